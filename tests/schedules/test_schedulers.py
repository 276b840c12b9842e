"""The files of docs/schedules do what their page says: each is run, or held against the scheduler's own rules.

They are taken as they are, but for the places that they name, which are moved below a folder of the test, and for the notebook: the
triage asks fewer questions than the report, and takes a tenth of its time.
"""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from casebook.errors import CasebookError
from casebook.machine import jars, places
from casebook.runs import notebooks
from tests.conftest import QUICK_JAVA
from tests.schedules import commands
from tests.schedules.commands import told

DOCS = places.checkout() / "docs" / "schedules"
GROOVY = {"org.apache.groovy:groovy:4.0.24": "38db8aa6f48b96aa11dd75745b96ab2991ddc9a09f5f3840fae704b84a588867"}
POOR = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "casebook", "JDK_JAVA_OPTIONS": QUICK_JAVA}
"""What cron gives a command, and nothing else; Java's options only make it quick."""


class Machine:
    """A machine with casebook where the files say it is.

    Args:
        root: Below this are the places that the files name.
    """

    def __init__(self, root: Path, cluster: str) -> None:
        self.root = root
        for folder in ("etc/casebook", "var/lib/casebook/runs", "var/lib/prometheus/node-exporter", "srv/casebook", "tmp", "opt"):
            (root / folder).mkdir(parents=True)
        (root / "opt/kafka-casebook").symlink_to(places.checkout())
        (root / "etc/casebook/prod.toml").write_text(f'zookeeper = "{cluster}"\n')

    def moved(self, text: str) -> str:
        """A file's text with its places below the root, and with a notebook that takes seconds."""
        assert notebooks.find("scheduled_report").stem == "90_scheduled_report"
        text = text.replace("/opt/kafka-casebook/.venv/bin", str(Path(sys.executable).parent))
        text = re.sub(r"(?<![\w.}])/(opt/kafka-casebook|etc/casebook|var/lib|var/cache|srv)\b", rf"{self.root}/\1", text)
        return text.replace("90_scheduled_report", "10_triage").replace("scheduled_report", "triage")

    def shell(self, command: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess:
        """Run a command as a scheduler without a login does."""
        home = {"HOME": str(self.root / "tmp"), "CASEBOOK_CACHE": str(places.cache_dir())}
        return subprocess.run(
            ["/bin/sh", "-c", command], env=POOR | home | environment, cwd=self.root, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip

    @property
    def runs(self) -> Path:
        return self.root / "var/lib/casebook/runs"

    @property
    def metrics(self) -> Path:
        return self.root / "var/lib/prometheus/node-exporter/casebook_prod.prom"


@pytest.fixture
def machine(tmp_path: Path, cluster: str) -> Machine:
    return Machine(tmp_path / "machine", cluster)


def assert_published(machine: Machine) -> None:
    """The report of the newest run is where readers look for it."""
    place = machine.root / "srv/casebook/prod"
    newest = commands.runs_in(machine.runs)[-1]
    assert told(place, "summary.json")["report"]["run"] == newest.name
    assert newest.name in (place / "report.html").read_text()


YOURS = re.compile(
    r"live:prod|registry\.example|zk-\d|s3://|/opt/kafka-casebook|/etc/casebook|/srv/casebook|node-exporter|label '|secretRef"
)
"""What a file names that is another in each house."""


@pytest.mark.parametrize("name", ["crontab", "casebook-report@.service", "Jenkinsfile", "cronjob.yaml", "airflow_dags.py"])
def test_what_is_to_be_edited_is_marked(name: str):
    """At the line, or right above it. Paths inside a pod are those of its image and volumes, and stay."""
    stays = re.compile(r"\s*(#|//)|.*(mountPath|CASEBOOK_PROFILES, value)")
    lines = (DOCS / name).read_text().splitlines()
    named = [at for at, line in enumerate(lines) if YOURS.search(line) and not stays.match(line)]
    assert named
    assert [lines[at] for at in named if "EDIT" not in "".join(lines[max(at - 1, 0) : at + 1])] == []


def test_folders_are_made_for_their_user_alone(tmp_path: Path):
    """The commands of the page, for a user of this machine: what is made belongs to that user, and nobody else may write there."""
    commands = re.findall(r"^(?:sudo )?(install -d .*)$", (DOCS / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 2
    for number, command in enumerate(commands):
        root = tmp_path / str(number)
        command = re.sub(r"-o \S+", "-o nobody", command).replace(" /", f" {root}/")
        subprocess.run(shlex.split(command), check=True)
        made = [Path(word) for word in shlex.split(command) if word.startswith(str(root))]
        assert {(path.owner(), path.stat().st_mode & 0o7777) for path in made} == {("nobody", 0o755)}


class TestCron:
    def test_its_lines_run_under_cron(self, machine: Machine):
        """In cron's own environment, by /bin/sh; what is mailed is what went to standard error: nothing."""
        lines = [line for line in machine.moved((DOCS / "crontab").read_text()).splitlines() if line and line[0] != "#"]
        environment = dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))
        jobs = [line for line in lines if not re.match(r"\w+=", line)]
        assert len(jobs) == 2
        for job in jobs:
            *times, command = job.split(None, 5)
            assert all(re.fullmatch(r"[\d*,/-]+", field) for field in times)
            assert "%" not in command  # to cron it is the end of the line
            done = machine.shell(command, environment)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert_published(machine)
        assert "casebook_run_exit_code" in machine.metrics.read_text()


class TestSystemd:
    @pytest.fixture
    def units(self, machine: Machine) -> Path:
        folder = machine.root / "units"
        folder.mkdir()
        for unit in DOCS.glob("casebook-report@.*"):
            (folder / unit.name).write_text(machine.moved(unit.read_text()))
        return folder

    def test_systemd_takes_them(self, units: Path):
        """systemd itself finds nothing to complain about."""
        asked = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=yes"]
        done = subprocess.run(
            [*asked, *(units / f"casebook-report@prod.{kind}" for kind in ("service", "timer"))], capture_output=True, text=True,
            check=False, env=os.environ | {"SYSTEMD_UNIT_PATH": f"{units}:"},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")

    def test_its_commands_run(self, machine: Machine, units: Path):
        """In the environment of the unit alone; findings are a success, and what comes after the run comes after it."""
        unit = configparser.RawConfigParser(strict=False, dict_type=_Every)
        unit.optionxform = str
        unit.read_string((units / "casebook-report@.service").read_text().replace("%i", "prod"))
        service = unit["Service"]
        environment = dict(line.split("=", 1) for line in service["Environment"].splitlines())
        environment["CASEBOOK_CACHE"] = str(places.cache_dir())  # so that nothing is fetched again
        codes = [machine.shell(command, environment).returncode for command in service["ExecStart"].splitlines()]
        assert codes == [2]
        assert {str(code) for code in codes} <= set(service["SuccessExitStatus"].split())
        after = [machine.shell(command, environment) for command in service["ExecStopPost"].splitlines()]
        assert [done.returncode for done in after] == [0, 0], after
        assert_published(machine)
        assert "casebook_run_exit_code" in machine.metrics.read_text()


class _Every(dict):
    """A section of a unit: a key that is there again adds a line."""

    def __setitem__(self, key, value):
        if isinstance(value, list) and key in self and isinstance(self[key], list):
            value = self[key] + value
        super().__setitem__(key, value)


class TestKubernetes:
    DOCUMENTS = list(yaml.safe_load_all((DOCS / "cronjob.yaml").read_text()))

    def test_it_fits_the_schema(self, tools: Path):
        """Kubernetes' own, strictly: no field that it does not know."""
        command = [tools.with_name("kubernetes-validate"), "--strict", "--kubernetes-version", "1.31", DOCS / "cronjob.yaml"]
        done = subprocess.run([tools, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_its_commands_run(self, machine: Machine, bucket: str):
        """With the arguments, variables and files of the pod alone, into an object store; the second job tidies up."""
        keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_ENDPOINT_URL": bucket}
        config = next(one for one in self.DOCUMENTS if one["kind"] == "ConfigMap")
        assert set(config["data"]) == {"prod.toml"}
        codes = []
        for job in (one for one in self.DOCUMENTS if one["kind"] == "CronJob"):
            pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            [container] = pod["containers"]
            environment = {one["name"]: machine.moved(one["value"]) for one in container["env"]}
            mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
            assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
            assert all(one["value"].startswith(tuple(mounted)) for one in container["env"])
            command = shlex.join([str(commands.CASEBOOK), *(machine.moved(word) for word in container["args"])])
            done = machine.shell(command, environment | {"HOME": str(machine.root / "tmp")} | keys)
            assert done.stderr == ""
            codes.append(done.returncode)
        assert codes == [2, 0]
        read = machine.shell(f"{commands.CASEBOOK} summary 's3://reports/kafka/prod?region=eu-central-1' --format json", keys)
        assert json.loads(read.stdout)["report"]["run"] == commands.runs_in(machine.runs)[-1].name

    def test_findings_are_not_tried_again(self):
        """The codes that are not are those of findings."""
        spec = next(one for one in self.DOCUMENTS if one["kind"] == "CronJob")["spec"]["jobTemplate"]["spec"]
        [rule] = spec["podFailurePolicy"]["rules"]
        assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [1, 2])
        assert rule["onExitCodes"]["containerName"] == spec["template"]["spec"]["containers"][0]["name"]

    def test_the_image_takes_what_there_is(self):
        """Every file that the image copies is there, it installs as `make install` does, and each of its programs is a real one."""
        lines = re.sub(r"\\\n\s*", "", (DOCS / "Dockerfile").read_text()).splitlines()
        for line in (line for line in lines if line.startswith("COPY ")):
            *sources, _ = line.split()[1:]
            assert all((places.checkout() / source).exists() for source in sources)
        made = (places.checkout() / "Makefile").read_text()
        for option in ("--require-hashes -r requirements.lock", "--no-deps -e ."):
            assert option in made
            assert any(option in line for line in lines)
        assert any(line.startswith("RUN casebook prepare ") for line in lines)
        assert commands.casebook("prepare").returncode == 0
        pods = [one["spec"]["jobTemplate"]["spec"]["template"]["spec"] for one in self.DOCUMENTS if one["kind"] == "CronJob"]
        assert {f"USER {pod['securityContext']['runAsUser']}" for pod in pods} <= set(lines)
        assert 'ENTRYPOINT ["casebook"]' in lines


@pytest.fixture(scope="module")
def airflow(tools: Path, cluster: str, tmp_path_factory: pytest.TempPathFactory):
    """Airflow with our file in its folder of DAGs: the machine it runs on, and what runs its command."""
    machine = Machine(tmp_path_factory.mktemp("airflow") / "machine", cluster)
    dags = machine.root / "dags"
    dags.mkdir()
    (dags / "airflow_dags.py").write_text(machine.moved((DOCS / "airflow_dags.py").read_text()))
    kernels = machine.root / "share"
    subprocess.run(
        [sys.executable, "-m", "ipykernel", "install", f"--prefix={kernels}", "--name", "casebook"],
        check=True,
        capture_output=True,
    )
    environment = {
        "PATH": f"{tools.parent}:{POOR['PATH']}", "HOME": str(machine.root / "tmp"), "JDK_JAVA_OPTIONS": QUICK_JAVA,
        "AIRFLOW_HOME": str(machine.root / "airflow"), "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "JUPYTER_PATH": str(kernels / "share/jupyter"),
        "CASEBOOK_CACHE": str(places.cache_dir()), "CASEBOOK_PROFILES": str(machine.root / "etc/casebook"),
        "CASEBOOK_HOME": str(machine.root / "opt/kafka-casebook"),
        "CASEBOOK_RUNS": str(machine.runs), "CASEBOOK_PLACE": str(machine.root / "srv/casebook/prod"),
    }  # fmt: skip

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [tools, "-m", "airflow", *arguments], env=environment, cwd=machine.root, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    migrated = run("db", "migrate")
    assert migrated.returncode == 0, migrated.stderr
    return machine, run


class TestAirflow:
    def test_a_plain_task(self, airflow):
        """Its report is published, and the webhook's body is told, though the cluster is in a critical state."""
        machine, run = airflow
        done = run("dags", "test", "kafka_report")
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"kafka_report.*state=success", done.stdout + done.stderr)
        assert '"status": "critical"' in done.stdout + done.stderr
        assert_published(machine)

    def test_papermill(self, airflow):
        """Airflow's papermill executes the notebook in our environment; the run folder is like any other."""
        machine, run = airflow
        done = run("dags", "test", "kafka_report_papermill", "2026-11-20T03:07:00")
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(r"kafka_report_papermill.*state=success", done.stdout + done.stderr)
        folder = machine.runs / "2026-11-20T03-07-00_10_triage_a1f0"
        assert told(folder, "summary.json")["worst"] == "critical"
        assert "report.html" in {path.name for path in folder.iterdir()}
        assert folder.name in (machine.runs / "index.html").read_text()


class TestJenkins:
    def test_the_pipeline_runs(self, machine: Machine):
        """Parsed by Groovy; its steps are played by a script of this test, which really runs what ``sh`` is given."""
        workspace = machine.root / "workspace"
        workspace.mkdir()
        (workspace / "Jenkinsfile").write_text(machine.moved((DOCS / "Jenkinsfile").read_text()))
        [groovy] = jars.fetched(GROOVY, places.cache_dir() / "schedulers" / "groovy-4.0.24", what="Groovy", error=CasebookError)
        command = ["java", "-cp", groovy, "groovy.ui.GroovyMain", Path(__file__).with_name("jenkins.groovy"), workspace]
        environment = POOR | {"HOME": str(machine.root / "tmp"), "CASEBOOK_CACHE": str(places.cache_dir())}
        environment["PATH"] = f"{Path(shutil.which('java')).parent}:{environment['PATH']}"
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        result, description, archived = done.stdout.splitlines()
        assert result == "UNSTABLE"
        assert description.startswith("CRITICAL: ")
        assert archived.split() == ["published/.lock", "published/report.html", "published/summary.json"]
