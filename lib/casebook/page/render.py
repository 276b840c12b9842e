"""Render templates to HTML. All evidence is escaped: a topic or a log line may contain anything."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from casebook.findings import words
from casebook.findings.finding import Finding, Severity, Status
from casebook.page import text


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=_templates(), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "count": words.count,
        "plural": words.plural,
        "listed": words.listed,
        "date": words.date,
        "clock": words.clock,
        "when": words.when,
        "size": text.size,
        "duration": text.duration,
        "elapsed": text.elapsed,
        "look": look,
        "anchor": anchor,
    }
    return environment


def _templates() -> ChoiceLoader:
    """Load the common templates, and those of each question's views."""
    questions = sorted(q.name for q in files("casebook.questions").iterdir() if q.joinpath("views", "templates").is_dir())
    return ChoiceLoader(
        [PackageLoader("casebook.page"), *(PackageLoader(f"casebook.questions.{name}.views") for name in questions)]
    )


def render(template: str, **context: object) -> Markup:
    """Return the HTML of ``<template>.html.j2``, from any of these folders."""
    return Markup(_environment().get_template(f"{template}.html.j2").render(context))


def script_safe(figure: Mapping[str, object]) -> Markup:
    """Return JSON that cannot end its script element, whatever the evidence."""
    return Markup(json.dumps(figure).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def anchor(proof: str) -> str:
    """Return the id of a cited znode or line in the same page."""
    return f"proof-{hashlib.sha256(proof.encode(errors='surrogatepass')).hexdigest()[:10]}"


def look(outcome: Finding | Severity | Status | str | None) -> str:
    """Return the key of symbol, colour and label: a severity, or a status."""
    if isinstance(outcome, Finding):
        return outcome.severity.value if outcome.severity else outcome.status.value
    return outcome or Status.OK.value
