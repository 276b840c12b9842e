"""The plan: what to do first, what after it, and what to save before. It is made once of all that is known, for every notebook.

Order: what loses commits while nobody acts; brokers to start, each after what only it has was saved; loads; what restarts
brokers; lost records. What only some notebooks read, a ledger, adds its step behind the others: it never moves the first one.
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
"""Those whose findings the plan answers: each begins with its first step."""

_BEHIND = ("maintenance.", "offsets_topic.load_buffer")
"""Those that stop brokers, restart them or hold elections: whatever the plan begins with comes first."""

_OFFLINE, _LOST = "leadership.offline", "loss.lost"
_SEND_AGAIN = "Send the lost records again from tables/lost, by key and in order, before consumers rely on the gap."


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in the order in which to do them; none where nothing is to be mended now."""

    steps: tuple[PlanStep, ...] = ()

    @property
    def first(self) -> PlanStep | None:
        """What to do first of all."""
        return next(iter(self.steps), None)

    def of(self, check: str) -> tuple[Step, ...]:
        """The steps that a check's finding is mended by; before them the first of all, wherever it belongs."""
        own = [step for step in self.steps if check in step.checks]
        if not own:
            return ()
        shown = own if own[0] is self.first else [self.first, *own]
        orders = (_step(step, "first" if step is self.first else "then") for step in shown)
        warned = (Step(kind="not", text=text) for step in own if step.checks[0] == check for text in step.never)
        return (*orders, *warned)

    @property
    def texts(self) -> frozenset[str]:
        """All that it orders and forbids."""
        return frozenset(text for step in self.steps for text in (step.text, *step.never))

    def advise(self, findings: Iterable[Finding], *, instead_of: Collection[str] = ()) -> tuple[Finding, ...]:
        """The findings, with the plan's steps before their own; doing so twice changes nothing.

        Args:
            instead_of: What an earlier plan of the same evidence ordered, e.g. of another time zone.
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
        """Whether the plan's first step comes before a check's own: on all pages, so not one that only some know of."""
        known = self.first is not None and self.first.act is not Act.SEND_AGAIN
        return known and (check in CHECKS or check.startswith(_BEHIND))

    def _title(self, finding: Finding) -> str:
        """That of partitions without leader is all that an alert shows: it names whom to start, where that comes first."""
        first = self.first
        if finding.check != _OFFLINE or first is None or first.act is not Act.START or _OFFLINE not in first.checks:
            return finding.title
        heals = count(finding.facts["heals"][0])
        order = f"; start broker {first.brokers[0]} first: heals {heals}"
        if finding.facts["unknown_heals"]:  # another may heal more
            order = f"; starting broker {first.brokers[0]} heals at least {heals}"
        return f"{finding.title.removesuffix(order)}{order}"


NO_PLAN = Plan()
"""Where nothing is to be mended."""


def make(
    lead: Leadership,
    *,
    past: Iterable[Finding] = (),
    held: Coordinators | None = None,
    topic: OffsetsTopic | None = None,
    lost: bool = False,
) -> Plan:
    """Make the plan.

    Args:
        lead: Partitions without leader, and whom to start.
        past: What logs and history tell; nothing where nobody asked.
        held: Coordinators and their loads; ``None`` where nobody asked, as is the next.
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
