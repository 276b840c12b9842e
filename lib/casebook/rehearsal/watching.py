"""Clients' view of their groups' coordinators, polled ten times a second.

The truth on which groups are served, and since when.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event, Thread
from types import TracebackType
from typing import Self

from casebook.rehearsal.commits import CommitRequest, find_coordinator, offset_commit, offset_fetch
from casebook.rehearsal.servers.protocol import Address, BrokerLink, addresses
from casebook.rehearsal.servers.topics import Partition

_PAUSE = 0.1
_PATIENCE = 5.0


@dataclass(slots=True, kw_only=True)
class ClientAnswers:
    """Responses to a group's clients.

    Args:
        answers: Each change of a response: time, request, and error code; ``None`` without a response.
        served_at: First permanent success of OffsetFetch.
    """

    answers: list[dict[str, object]] = field(default_factory=list)
    served_at: datetime | None = None

    def codes(self, request: str) -> set[int | None]:
        """Return every error code of a request."""
        return {answer["code"] for answer in self.answers if answer["request"] == request}

    def as_json(self) -> dict[str, object]:
        """Return the JSON for the truth."""
        return {"served_at": self.served_at and self.served_at.isoformat(timespec="milliseconds"), "answers": self.answers}


class Watch:
    """Polls the coordinator of each group, and its commits, while its block lasts.

    Once a round it also repeats the group's last commit, like a client would.

    Args:
        bootstrap: A broker that stays alive.
        committed: A partition and its committed offset, by group.
    """

    def __init__(self, bootstrap: str, committed: Mapping[str, tuple[Partition, int]]) -> None:
        self.seen = {group: ClientAnswers() for group in committed}
        self._bootstrap, self._committed = addresses(bootstrap)[0], committed
        self._latest: dict[tuple[str, str], int | None] = {}
        self._links: dict[Address, BrokerLink] = {}
        self._over = Event()
        self._thread = Thread(target=self._watch, name="watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        for link in self._links.values():
            link.close()

    def served(self, groups: Iterable[str]) -> set[str]:
        """Return the groups that are served now."""
        return {group for group in groups if self.seen[group].served_at}

    def _watch(self) -> None:
        while not self._over.wait(_PAUSE):
            for group in self._committed:
                self._look_at(group)

    def _look_at(self, group: str) -> None:
        partition, offset = self._committed[group]
        if not (address := self._coordinator(group)):
            return
        commit = CommitRequest(group=group, offsets={partition[0]: {partition[1]: offset}})
        try:
            link = self._link(address)
            code = offset_fetch(link, group, [partition])[partition].code
            self._note(group, "OffsetFetch", code)
            self._note(group, "OffsetCommit", next(offset_commit(link, [commit])))
        except OSError:
            self._lost(address)
            self._note(group, "OffsetFetch", None)

    def _coordinator(self, group: str) -> Address | None:
        try:
            code, address = find_coordinator(self._link(self._bootstrap), group)
        except OSError:
            self._lost(self._bootstrap)
            code, address = None, None
        self._note(group, "FindCoordinator", code)
        return address

    def _note(self, group: str, request: str, code: int | None) -> None:
        seen = self.seen[group]
        if request == "OffsetFetch":
            seen.served_at = (seen.served_at or datetime.now(UTC)) if code == 0 else None
        if self._latest.get((group, request), -1) != code:
            self._latest[group, request] = code
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            seen.answers.append({"at": at, "request": request, "code": code})

    def _link(self, address: Address) -> BrokerLink:
        if address not in self._links:
            self._links[address] = BrokerLink(address, patience=_PATIENCE)
        return self._links[address]

    def _lost(self, address: Address) -> None:
        if link := self._links.pop(address, None):
            link.close()
