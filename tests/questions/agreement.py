"""Where two pages on the same evidence disagree: in what they order first, in what they forbid, and in a number that they share."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from casebook.findings.finding import Finding, Status, worst_first
from casebook.questions.triage.analysis import plan

Pages = Mapping[str, Mapping[str, Finding]]
"""By notebook, its findings by check."""


def disagreements(pages: Pages) -> list[str]:
    """All of them, in words."""
    return [
        *_firsts(pages),
        *_headless(pages),
        *_answers(pages),
        *_too_soon(pages),
        *_forbidden(pages),
        *_vain(pages),
        *_numbers(pages),
    ]


def first_step(findings: Iterable[Finding]) -> str | None:
    """What a page orders first, of all that it says about now."""
    told = [one for one in worst_first(findings) if one.status is Status.FINDING and one.check in plan.CHECKS]
    return next((step.text for one in told for step in one.next if step.kind == "first"), None)


def _firsts(pages: Pages) -> Iterator[str]:
    firsts = {notebook: first for notebook, page in pages.items() if (first := first_step(page.values()))}
    for (one, said), (other, instead) in combinations(firsts.items(), 2):
        if said != instead:
            yield f"first step of {one}: {said!r}; of {other}: {instead!r}"


def _headless(pages: Pages) -> Iterator[str]:
    for notebook, page in pages.items():
        for check, finding in page.items():
            kinds = [step.kind for step in finding.next]
            if "then" in kinds and "first" not in kinds[: kinds.index("then")]:
                yield f"{notebook}, {check}: then without first"


def _answers(pages: Pages) -> Iterator[str]:
    """The same question, answered on two pages: with other steps, or other numbers where both know them."""
    for (one, page), (other, second) in combinations(pages.items(), 2):
        for check in page.keys() & second.keys():
            a, b = page[check], second[check]
            if (a.status, b.status) != (Status.FINDING, Status.FINDING):
                continue
            if a.next != b.next:
                yield f"steps of {check} in {one} and {other}"
            for name in a.facts.keys() & b.facts.keys():
                if None not in (a.facts[name], b.facts[name]) and a.facts[name] != b.facts[name]:
                    yield f"{name} of {check} in {one}: {a.facts[name]}; in {other}: {b.facts[name]}"


def _too_soon(pages: Pages) -> Iterator[str]:
    """A broker is started whose records any page says must be saved before."""
    unclean = [page["timeline.unclean"] for page in pages.values() if "timeline.unclean" in page]
    ahead = {broker for one in unclean if one.status is Status.FINDING for broker in one.facts["brokers"]}
    for notebook, page in pages.items():
        for check, finding in page.items():
            saved: set[int] = set()
            for step in finding.next:
                if re.match(r"(Back up|Before broker|See what)", step.text):
                    saved |= {broker for broker in ahead if re.search(rf"\b{broker}\b", step.text)}
                if early := ahead.intersection(step.starts) - saved:
                    yield f"{notebook}, {check}: starts {sorted(early)} unsaved"


def _forbidden(pages: Pages) -> Iterator[str]:
    """A page orders a restart that the same or another page forbids, and does not say that it comes after."""
    spared = {
        broker
        for page in pages.values()
        for finding in page.values()
        for step in finding.next
        if step.kind == "not" and (said := re.match(r"Do not (?:restart|stop) brokers? ([\d, and]+)", step.text))
        for broker in map(int, re.findall(r"\d+", said[1]))
    }
    for notebook, page in pages.items():
        for check, finding in page.items():
            for step in finding.next:
                if step.kind != "not" and (said := re.match(r"(Restart|Brokers? [\d, and]+ can be restarted)(.*)", step.text)):
                    whom = {int(n) for n in re.findall(r"broker (\d+)", said[0])} or (
                        spared if "the broker in" in said[0] else set()
                    )
                    if whom & spared and "after" not in step.text:
                        yield f"{notebook}, {check}: restarts {sorted(whom & spared)}, which a page forbids"


def _vain(pages: Pages) -> Iterator[str]:
    """Somebody is told to wait for a load of which a page says that it never ends."""
    endless = [p["coordinators.loading_for_ever"] for p in pages.values() if "coordinators.loading_for_ever" in p]
    if any(one.status is Status.FINDING for one in endless):
        for notebook, page in pages.items():
            if any(step.text.startswith("Wait") for f in page.values() if f.check.startswith("coordinators.") for step in f.next):
                yield f"{notebook}: waits for a load that never ends"


_SAME = (
    (("leadership.offline", "offline"), ("timeline.leaderless", "still")),
    (("leadership.brokers", "dead"), ("maintenance.unregistered_replicas", "brokers")),
)
"""Facts of different checks that are one number."""


def _numbers(pages: Pages) -> Iterator[str]:
    for (check, name), (twin, other) in _SAME:
        values = {str(f.facts[n]) for p in pages.values() for c, n in ((check, name), (twin, other))
                  if (f := p.get(c)) and f.status is Status.FINDING and f.facts.get(n) is not None}  # fmt: skip
        if len(values) > 1:
            yield f"{name} of {check}, {other} of {twin}: {' and '.join(sorted(values))}"
