"""How long coordinators load, foretold from cases of real plays, against what the brokers logged in the end.

    python tests/bench/load_forecast.py [plays]

A broker's rate is taken from its own loads, so the forecast holds as far as the machine goes on as fast as before. How much faster
or slower each broker really became is printed beside it: what a machine with other work on it does is no fault of the forecast.
"""

import json
import sys
from datetime import datetime
from math import exp, log
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).parents[2]))

import sizes

from casebook.case.case import Case
from casebook.kafka import release
from casebook.questions.maintenance.analysis import maintenance
from casebook.rehearsal import INCIDENTS
from casebook.rehearsal.plays import coordinators_loading, restart_all_coordinators
from tests.incidents.foretold import foretold, logged, taken_over
from tests.rehearsal import plays

PLAYS, WITHIN = 1, 0.3
LOADED = sizes.of(("0.9.0.1", "2.8.2"), quick=())
"""Releases of the plays that have many loads, each of some minutes."""
ASKED = 500
"""Milliseconds after which a client that asks ten times a second has surely been told that its group is served."""


def main() -> None:
    """Play, print a line a load, fail beyond a bound."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else PLAYS
    wrong = []
    for kafka in LOADED:
        for _ in range(rounds):
            wrong += loading(kafka)
    for _ in range(rounds):
        wrong += restarted()
    if wrong:
        sizes.beyond("\n".join(wrong))


def loading(kafka: str) -> list[str]:
    """One play of ``coordinators-loading``; what was foretold wrongly."""
    out = plays.played_by.__wrapped__(
        coordinators_loading.play, "coordinators-loading", kafka, INCIDENTS["coordinators-loading"].story
    )
    took, seen, wrong = logged(out), served(out), []
    print(f"\ncoordinators-loading on {kafka}")
    told = foretold(out)
    for broker in coordinators_loading.HOLDERS:
        own = [one for one in told if one.broker == broker]
        became = exp(mean(log(took[one.partition] / one.takes.mid) for one in own))
        for one in own:
            milliseconds, at = took[one.partition], seen[one.partition]
            off = milliseconds / one.takes.mid - 1
            print(
                f"broker {broker} partition {one.partition:<3} took {milliseconds:>6} ms, foretold {one.takes.mid:6.0f}"
                f" ({one.takes.low:.0f} to {one.takes.high:.0f}), {off:+.0%}; its loads became {became:.2f} times as long"
            )
            if not one.takes.low <= milliseconds <= one.takes.high:
                wrong.append(f"{kafka}, partition {one.partition}: outside the interval of its load")
            if abs(one.takes.mid / milliseconds - 1) > WITHIN:
                wrong.append(f"{kafka}, partition {one.partition}: more than {WITHIN:.0%} off")
            if not one.served.low <= at <= one.served.high + ASKED:
                wrong.append(f"{kafka}, partition {one.partition}: served outside the interval")
    return wrong


def served(out: Path) -> dict[int, float]:
    """When a client of each partition's group was first served, epoch ms."""
    groups = json.loads((out / "truth.json").read_text())["facts"]["coordinators"]["groups"].values()
    return {group["partition"]: 1000 * datetime.fromisoformat(group["served_at"]).timestamp() for group in groups}


def restarted() -> list[str]:
    """One play of ``restart-all-coordinators``: the longest wait for whoever takes partitions over."""
    name = "restart-all-coordinators"
    out = plays.played_by.__wrapped__(restart_all_coordinators.play, name, "0.9.0.1", INCIDENTS[name].story)
    case = Case.open(out / "copied")
    cluster, held = case.cluster(), plays.evidence(out / "copied", scan=True).coordinators
    found = maintenance.examine(cluster, release.release(cluster), held=held, log_dirs=case.log_dirs())
    wait = found.moves.of([restart_all_coordinators.ONE]).wait
    truth = json.loads((out / "truth.json").read_text())["facts"]["restart_all_coordinators"]
    longest = 1000 * max(seconds for _, seconds in taken_over(truth).values())
    print(
        f"\n{name}: took {longest:.0f} ms, foretold {wait.mid:.0f} ({wait.low:.0f} to {wait.high:.0f}), {longest / wait.mid - 1:+.0%}"
    )
    return [] if wait.low <= longest <= wait.high else [f"{name}: outside the interval"]


if __name__ == "__main__":
    main()
