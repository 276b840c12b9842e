"""Results to tables, charts and choices: the same in JupyterLab and in the report. Only views draw."""
