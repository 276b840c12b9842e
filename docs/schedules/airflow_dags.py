"""Kafka's report every morning, by Airflow 3: as a plain task, which is the simpler way, and with the PapermillOperator.

casebook stays in its own environment below ``CASEBOOK_HOME``: it and Airflow pin different versions of what both use.
"""

import os
from datetime import timedelta

import pendulum
from airflow.providers.papermill.operators.papermill import PapermillOperator
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

HOME = os.environ.get("CASEBOOK_HOME", "/opt/kafka-casebook")  # EDIT, or set the variable, as the three below
RUNS = os.environ.get("CASEBOOK_RUNS", "/var/lib/casebook/runs")  # EDIT
PLACE = os.environ.get("CASEBOOK_PLACE", "/srv/casebook/prod")  # EDIT
SOURCE = os.environ.get("CASEBOOK_SOURCE", "live:prod")  # EDIT: the profile
CASEBOOK = f"{HOME}/.venv/bin/casebook"
MORNING = {
    "schedule": "7 3 * * *",  # EDIT
    "start_date": pendulum.datetime(2026, 1, 1, tz="UTC"),
    "catchup": False,  # a report is of now: one that was missed cannot be made up for
    "max_active_runs": 1,
    "default_args": {"retries": 1, "retry_delay": timedelta(minutes=10)},
}

with DAG("kafka_report", doc_md="Kafka's report, published with its summary.", **MORNING):
    # Exit codes 1 and 2 are findings: the report was made. Only 3 fails the task, and is tried once more.
    report = BashOperator(
        task_id="report",
        bash_command=f"{CASEBOOK} run scheduled_report --source {SOURCE} --runs {RUNS} --one-at-a-time --timeout 2h "
        f"--publish {PLACE} || test $? -le 2",
    )
    # The last line that a BashOperator prints is its result: the next task, or a callback, takes the webhook's body from it.
    tell = BashOperator(
        task_id="tell", bash_command=f"{CASEBOOK} summary {PLACE} --format webhook", trigger_rule="all_done", retries=0
    )
    report >> tell >> BashOperator(task_id="keep", bash_command=f"{CASEBOOK} runs --runs {RUNS} --keep 30")

with DAG("kafka_report_papermill", doc_md="The same notebook, executed by Airflow's papermill.", **MORNING):
    # A run folder as `casebook run` names them, so that index, comparison and --keep know it.
    folder = f"{RUNS}/{{{{ logical_date.strftime('%Y-%m-%dT%H-%M-%S') }}}}_90_scheduled_report_a1f0"
    execute = PapermillOperator(
        task_id="execute",
        input_nb=f"{HOME}/notebooks/90_scheduled_report.ipynb",
        output_nb=f"{folder}/notebook.ipynb",
        parameters={"source": SOURCE, "out_dir": folder},
        kernel_name="casebook",  # {HOME}/.venv/bin/python -m ipykernel install --prefix=/usr/local --name casebook
        language_name="python",
        execution_timeout=timedelta(hours=2),
    )
    write = BashOperator(task_id="write", bash_command=f"{CASEBOOK} report {folder} && {CASEBOOK} runs --runs {RUNS} --keep 30")
    BashOperator(task_id="make_folder", bash_command=f"mkdir -p {folder}") >> execute >> write
