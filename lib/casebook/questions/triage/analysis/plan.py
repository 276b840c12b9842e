"""The plan: what to do first and next, and what to save before. It is built once from all evidence, for every notebook.

Order: ongoing loss of commits; brokers to start, each after its unique data was saved; loads; restarts of brokers; lost records.
Evidence of only some notebooks, a ledger, adds its step at the end: it never changes the first one.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from casebook.findings.finding import Finding, Status, Step
from casebook.findings.words import count
from casebook.questions.coordinators.analysis.coordinators import Coordinators
from casebook.questions.leadership.analysis.leadership import Leadership
from casebook.questions.offsets_topic.analysis.offsets_topic import OffsetsTopic
from casebook.questions.triage.analysis import plan_groups, plan_starts
from casebook.questions.triage.analysis.plan_rows import Act, PlanStep

CHECKS = tuple(dict.fromkeys((*plan_starts.CHECKS, *plan_groups.CHECKS, "loss.lost")))
"""Checks with an answer in the plan: each starts with its first step."""

_BEHIND = ("maintenance.", "offsets_topic.load_buffer")
"""Checks with advice to stop or restart brokers or hold elections: the plan's first step comes before it."""

_OFFLINE, _LOST = "leadership.offline", "loss.lost"
_SEND_AGAIN = "Let the producers send the records of tables/lost again, in order, before consumers rely on the gap."


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in order; none when nothing needs fixing now."""

    steps: tuple[PlanStep, ...] = ()

    @property
    def first(self) -> PlanStep | None:
        """First step."""
        return next(iter(self.steps), None)

    def of(self, check: str) -> tuple[Step, ...]:
        """Return the steps that fix a check's finding; before them the first step of all, whatever its check."""
        own = [step for step in self.steps if check in step.checks]
        if not own:
            return ()
        shown = own if own[0] is self.first else [self.first, *own]
        orders = (_step(step, "first" if step is self.first else "then") for step in shown)
        warned = (Step(kind="not", text=text) for step in own if step.checks[0] == check for text in step.never)
        return (*orders, *warned)

    @property
    def texts(self) -> frozenset[str]:
        """Return all its orders and warnings."""
        return frozenset(text for step in self.steps for text in (step.text, *step.never))

    def advise(self, findings: Iterable[Finding], *, instead_of: Collection[str] = ()) -> tuple[Finding, ...]:
        """Return the findings with the plan's steps before their own; idempotent.

        Args:
            instead_of: Texts of an earlier plan for the same evidence, e.g. in another time zone.
        """
        said = self.texts.union(instead_of)
        return tuple(self._advised(one, said) for one in findings)

    def _advised(self, finding: Finding, said: Collection[str]) -> Finding:
        if finding.status is not Status.FINDING:
            return finding
        planned = self.of(finding.check)
        own = [step for step in finding.next if step.text not in said]
        if own and not planned and self._leads(finding.check):
            planned = (_step(self.first, "first"),)
        orders = [step for step in (*planned, *own) if step.kind != "not"]
        never = [step for step in (*planned, *own) if step.kind == "not"]
        kinds = ("first", *["then"] * len(orders))
        steps = (*(replace(step, kind=kind) for step, kind in zip(orders, kinds, strict=False)), *never)
        return replace(finding, title=self._title(finding), next=steps)

    def _leads(self, check: str) -> bool:
        """Return whether the plan's first step comes before a check's own: on all pages, so not one known to only some."""
        known = self.first is not None and self.first.act is not Act.SEND_AGAIN
        return known and (check in CHECKS or check.startswith(_BEHIND))

    def _title(self, finding: Finding) -> str:
        """Return the title of partitions without a leader, which is all that an alert shows.

        With the broker to start, if that is first.
        """
        first = self.first
        if finding.check != _OFFLINE or first is None or first.act is not Act.START or _OFFLINE not in first.checks:
            return finding.title
        heals = count(finding.facts["heals"][0])
        order = f"; start broker {first.brokers[0]} first: heals {heals}"
        if finding.facts["unknown_heals"]:  # another may heal more
            order = f"; starting broker {first.brokers[0]} heals at least {heals}"
        return f"{finding.title.removesuffix(order)}{order}"


NO_PLAN = Plan()
"""Plan when nothing needs fixing."""


def make(
    lead: Leadership,
    *,
    past: Iterable[Finding] = (),
    held: Coordinators | None = None,
    topic: OffsetsTopic | None = None,
    lost: bool = False,
) -> Plan:
    """Build the plan.

    Args:
        lead: Partitions without a leader, and start order.
        past: Findings from logs and history; empty when not requested.
        held: Coordinators and their loads; ``None`` when not requested, like the next.
        topic: The offsets topic and its cleaners.
        lost: Whether acknowledged records are known to be lost.
    """
    steps = (
        *(plan_groups.failed(held) if held else ()),
        *plan_starts.starts(lead, {one.check: one for one in past}),
        *(plan_groups.loads(held) if held else ()),
        *(plan_groups.loads_again(held) if held else ()),
        *(plan_groups.cleaner(lead, held, topic) if topic else ()),
        *plan_groups.leftover(lead),
        *plan_starts.impossible(lead),
        *([PlanStep(act=Act.SEND_AGAIN, text=_SEND_AGAIN, checks=(_LOST,))] if lost else ()),
    )
    return Plan(steps=steps)


def _step(step: PlanStep, kind: str) -> Step:
    return Step(kind=kind, text=step.text, command=step.command, starts=step.brokers if step.act is Act.START else ())
