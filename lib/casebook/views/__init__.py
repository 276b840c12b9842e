"""Results to tables, charts and choices; the same views serve JupyterLab and the report. Only here are plotly and ipywidgets known."""
