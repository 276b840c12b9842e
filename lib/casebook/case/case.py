"""A case opened for reading, the only input of an analysis. :mod:`casebook.case.folder` documents its layout."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from casebook.case.folder import HISTORY, Item
from casebook.case.items import CaseItems, packed_lines, read_text, text_lines
from casebook.errors import CaseError
from casebook.facts.clients import ClientFile
from casebook.facts.cluster import Cluster, PrintedSettings, Problem, epoch_ms
from casebook.facts.disks import LogDir
from casebook.facts.events import HOST_OF_BROKER, is_log
from casebook.facts.logged import Logged, StatedVersion
from casebook.facts.pasted import PASTED, Pasted
from casebook.facts.proofs import ZNODES
from casebook.facts.wire import ANSWERS, BrokerAnswer
from casebook.facts.znodes import Znode, ZnodeChange
from casebook.formats import properties
from casebook.formats.broker import config_dumps, left_log_dirs, log_dir_rows, logged
from casebook.formats.wire import answer_lines
from casebook.formats.wire import cluster as answers
from casebook.formats.zookeeper import cluster, history_lines, time_machine, znode_lines

LIVE = "live:"
"""Name prefix of a case collected for one run, before its source."""
_LOOPBACK = re.compile(r"(?:localhost|127\.[0-9.]+|\[::1\]):")
_BLOCK = 1 << 20


class Case(CaseItems):
    """A case folder opened for reading; use :meth:`open`."""

    __slots__ = ()

    @property
    def complete(self) -> int | None:
        """Collection time, epoch milliseconds; ``None`` when not recorded or invalid."""
        try:
            return epoch_ms(self.collected_at) if self.collected_at else None
        except ValueError:
            return None

    def znodes(self, at: int | None = None, only: Set[str] | None = None) -> Iterator[Znode]:
        """Yield the readable znodes; a torn or damaged file ends early, which :meth:`cluster` reports.

        Args:
            at: Moment of the state, epoch ms; by default that of the collection.
            only: Paths of the wanted ones: lines of others are not decoded; by default all.

        Raises:
            CaseError: A line is not a znode, or the file is torn; earlier rows were already yielded. Or the case has no history,
                or none that reaches back so far.
        """
        found = self._znodes_at(at) if at is not None else self._znodes_walked(only)
        yield from found if only is None else (znode for znode in found if znode.path in only)

    def _znodes_walked(self, only: Set[str] | None) -> Iterator[Znode]:
        """Yield the znodes of the walk; of those that are not wanted, at most some."""
        for number, line in enumerate(packed_lines(self.folder / ZNODES, self.items.get(ZNODES)), start=1):
            if only is not None and (path := znode_lines.plain_path(line)) is not None and path not in only:
                continue
            try:
                yield znode_lines.decode(line)
            except ValueError as error:
                raise CaseError(f"{ZNODES}, line {number}: {error}.") from None

    def _znodes_at(self, at: int) -> Iterator[Znode]:
        try:
            return time_machine.znodes(self.history(), at)
        except ValueError as error:
            raise CaseError(f"{self.name} does not cover that moment: {error}.") from None

    @property
    def has_history(self) -> bool:
        """Whether it has a history from ZooKeeper's own files."""
        return HISTORY in self.items

    def history(self) -> Iterator[ZnodeChange]:
        """Yield the changes of Kafka's znodes and of sessions from ZooKeeper's own files, in the order of transactions.

        Raises:
            CaseError: The case has no history, a line is not a change, or the file is torn; earlier changes were already yielded.
        """
        if not self.has_history:
            raise CaseError(
                f"{self.name} has no history of the znodes.", try_="Collect ZooKeeper's own files: --zookeeper-data DIR."
            )
        yield from _changes(packed_lines(self.folder / HISTORY, self.items.get(HISTORY)))

    def past(self) -> Iterator[ZnodeChange]:
        """Yield the readable part of the history, or nothing without one; :meth:`cluster` reports where it ends early.

        Raises:
            CaseError: A line is JSON, but not a change.
        """
        if self.has_history:
            yield from _changes(_as_far_as_readable(self._history_lines()))

    def _history_lines(self) -> Iterator[bytes]:
        for line in packed_lines(self.folder / HISTORY, self.items.get(HISTORY)):
            if not history_lines.is_row(line):
                raise CaseError(f"{HISTORY} has a line that is not a JSON object.")
            yield line

    def history_size(self) -> tuple[int, int]:
        """Return the number of transactions in its history, and of snapshots at its begin.

        Raises:
            CaseError: The file is torn.
        """
        return history_lines.counted(packed_lines(self.folder / HISTORY, self.items.get(HISTORY)))

    def cluster(self, at: int | None = None) -> Cluster:
        """Return the cluster from the case's znodes and properties. Damaged evidence is reported in the result.

        Args:
            at: Moment of the state, epoch ms; by default that of the collection. Settings are always as collected.

        Raises:
            CaseError: The case has no history of that moment.
        """
        unreadable = [*self.damaged, *self._empty(), *self._without_settings(), *self._without_changes(), *self._left_behind()]
        not_collected = [*self.could_not_collect, *unreadable]
        by_brokers = ANSWERS in self.items and ZNODES not in self.items
        found = (self._of_answers if by_brokers else self._of_znodes)(at, not_collected)
        torn = [part.path for part in found.missing_parts if part.path == ZNODES]
        given = dict.fromkeys([*self.left_out, *(part.path for part in unreadable), *torn])
        return replace(
            found,
            zookeeper=self._reachable_servers(),
            unreadable=tuple(given),
            printed_settings={**self.printed_settings(), **found.printed_settings},
            excerpts=self._excerpts(),
        )

    def _of_znodes(self, at: int | None, not_collected: list[Problem]) -> Cluster:
        rows = self._znodes_as_far_as_readable(not_collected) if at is None else self.znodes(at)
        return cluster.from_znodes(
            rows,
            chroot=self.chroot,
            not_collected=not_collected,
            server_properties=self.server_properties(),
            remarks=self.remarks,
        )

    def _of_answers(self, at: int | None, not_collected: list[Problem]) -> Cluster:
        """Return the cluster from the answers of its brokers, which are of one moment."""
        if at is not None:
            raise CaseError(f"{self.name} has no history of the cluster.", try_="Leave the parameter at empty.")
        return answers.from_answers(
            self._answers(not_collected),
            not_collected=not_collected,
            server_properties=self.server_properties(),
            remarks=self.remarks,
        )

    def _answers(self, not_collected: list[Problem]) -> Iterator[tuple[int, BrokerAnswer]]:
        """Yield the answers with their lines; a line that is none is a problem."""
        for number, line in enumerate(self.text_lines(ANSWERS), start=1):
            try:
                yield number, answer_lines.decode(line)
            except ValueError as error:
                not_collected.append(Problem(path=f"{ANSWERS}:{number}", reason=str(error)))

    def _excerpts(self) -> frozenset[int]:
        """Brokers with only some settings pasted."""
        parts = {part.path for part in self.could_not_collect}
        return frozenset(broker for path, broker in self.of_brokers("server.properties") if path in parts)

    def _reachable_servers(self) -> tuple[str, ...]:
        """The servers, without those that only the collecting machine can reach, unless it was collected just now."""
        own = not self.name.startswith(LIVE)
        return () if own and any(map(_LOOPBACK.match, self.servers)) else self.servers

    def _znodes_as_far_as_readable(self, not_collected: list[Problem]) -> Iterator[Znode]:
        if ZNODES not in self.items:
            not_collected.append(Problem(path="/", reason="no znodes in this case"))
            return
        is_empty = True
        try:
            for znode in self.znodes():
                is_empty = False
                yield znode
        except CaseError as error:
            not_collected.append(Problem(path=ZNODES, reason=str(error)))
        else:
            if is_empty:
                not_collected.append(Problem(path=ZNODES, reason="is empty"))

    def server_properties(self) -> dict[int, dict[str, str]]:
        """``server.properties`` by broker id, as far as collected and with a broker setting."""
        torn = {problem.path for problem in self.damaged}
        return {b: found for path, b, found in self._properties() if path not in torn and properties.is_of_broker(found)}

    def printed_settings(self) -> dict[int, PrintedSettings]:
        """Settings logged at the last start, by broker, for brokers without ``server.properties`` in the case.

        See :mod:`casebook.formats.broker.config_dumps`.
        """
        last: dict[int, tuple[str, PrintedSettings]] = {}
        for broker, path, one in self._starts():
            if one.at >= last.get(broker, ("",))[0]:
                last[broker] = one.at, PrintedSettings(one.settings, f"{path}:{one.line}")
        return {broker: one for broker, (_, one) in sorted(last.items())}

    def _starts(self) -> Iterator[tuple[int, str, config_dumps.Printed]]:
        """Yield the settings logged at each start by brokers without ``server.properties``, with the log's path."""
        configured = self.server_properties()
        for path, given in self.logs_of_brokers():
            if given in configured:
                continue
            for one in _printed(self.folder / path, self.items[path].sha256):
                broker = given if one.broker is None else one.broker
                if broker not in configured:
                    yield broker, path, one

    def _properties(self) -> Iterator[tuple[str, int, dict[str, str]]]:
        for path, broker in self.of_brokers("server.properties"):
            if (text := read_text(self.folder / path)) is not None:
                yield path, broker, properties.parse(text)

    def _without_settings(self) -> Iterator[Problem]:
        """Yield files without startup settings: Kafka does not start with such a file."""
        for path, _, found in self._properties():
            if not properties.is_of_broker(found):
                yield Problem(path=path, reason="holds no broker setting")

    def _empty(self) -> Iterator[Problem]:
        """Yield empty lists of log dirs; a collection of nothing leaves no list."""
        for path in sorted(self.items):
            if path.endswith("/log_dirs.json") and self.items[path].rows == 0:
                yield Problem(path=path, reason="is empty")

    def _without_changes(self) -> Iterator[Problem]:
        """Yield a history that is unreadable from its begin or before its end."""
        if self.has_history:
            try:
                lines = sum(1 for _ in self._history_lines())
                if not lines or next(self.history(), None) is None:
                    yield Problem(path=HISTORY, reason="holds no transaction")
            except CaseError as error:
                yield Problem(path=HISTORY, reason=str(error))

    def log_dirs(self) -> tuple[LogDir, ...]:
        """Listed log dirs of the brokers, without those no longer in use; empty when none were collected."""
        return tuple(log_dir for _, log_dir, instead in self._listed() if not instead)

    def _left_behind(self) -> Iterator[Problem]:
        """Yield collected log dirs that their broker no longer uses."""
        for path, log_dir, instead in self._listed():
            if instead:
                reason = f"lists {log_dir.place}; at its last start, broker {log_dir.broker} used {', '.join(instead)} instead"
                yield Problem(path=path, reason=reason)

    def _listed(self) -> Iterator[tuple[str, LogDir, tuple[str, ...]]]:
        """Yield the path of the list, the log dir, and the dirs that its broker uses in its place; empty when it is in use."""
        if not (lists := list(self.of_brokers("log_dirs.json"))):
            return
        starts: dict[int, list[config_dumps.Printed]] = defaultdict(list)
        for broker, _, one in self._starts():
            starts[broker].append(one)
        for path, broker in lists:
            for log_dir in self._log_dirs(path, broker):
                yield path, log_dir, left_log_dirs.instead(log_dir.place, starts[broker])

    def _log_dirs(self, path: str, broker: int) -> tuple[LogDir, ...]:
        copies = (self.folder / "brokers" / str(broker) / "segments").absolute()
        found = log_dir_rows.decode(text_lines(self.folder / path), broker=broker, item=path, copies=str(copies))
        torn = tuple(problem for problem in self.damaged if problem.path == path)
        return tuple(log_dir.observed()._replace(problems=torn + log_dir.problems) for log_dir in found)

    def logs(self) -> tuple[tuple[Item, int | None], ...]:
        """Every log of brokers, ZooKeeper servers and clients, by path, with its broker."""
        of_brokers = dict(self.logs_of_brokers())
        return tuple((item, of_brokers.get(path)) for path, item in sorted(self.items.items()) if is_log(path))

    def ledgers(self) -> tuple[tuple[str, str], ...]:
        """Path in the case and client of each ledger of produced or processed records, by path."""
        places = ((path, path.split("/")) for path in sorted(self.items))
        return tuple((path, parts[1]) for path, parts in places if (parts[0], *parts[2:3]) == ("clients", "ledgers"))

    def processed_ledgers(self) -> tuple[tuple[str, str], ...]:
        """Path in the case and consumer group of each ledger given as processed records, by path."""
        places = ((path, path.split("/")) for path in sorted(self.items))
        return tuple((path, parts[1]) for path, parts in places if (parts[0], *parts[2:3]) == ("clients", "processed"))

    def client_files(self) -> tuple[ClientFile, ...]:
        """Settings of clients by client and file; from their logs when there is no file.

        See :mod:`casebook.formats.clients.client_properties` and :mod:`casebook.formats.broker.config_dumps`.
        """
        from casebook.formats.clients import client_properties  # few notebooks need it

        places = ((path, path.split("/")) for path in sorted(self.items))
        found = ((path, parts[1]) for path, parts in places if len(parts) == 4 and (parts[0], parts[2]) == ("clients", "config"))
        torn = {problem.path: problem.reason for problem in self.damaged}
        files = tuple(
            replace(one, given={}, whole=False, problems=(torn[path],)) if path in torn else one
            for path, client in found
            if (text := read_text(self.folder / path)) is not None
            for one in client_properties.parse(text, client=client, file=path)
        )
        configured = {(one.client, one.kind) for one in files}
        printed = {
            (one.client, one.kind): one
            for path in sorted(self.items)
            if is_log(path) and path.startswith("clients/")
            for one in config_dumps.parse(self.text_lines(path), client=path.split("/")[1], file=path)
        }
        return files + tuple(one for key, one in sorted(printed.items()) if key not in configured)

    def unknown_clients(self, told: Iterable[ClientFile]) -> tuple[str, ...]:
        """Return clients with a file or log that has no settings, or that was unavailable.

        Args:
            told: Result of :meth:`client_files`.
        """
        given = (*self.items, *(problem.path for problem in self.could_not_collect))
        named = {
            parts[1]
            for parts in (path.split("/") for path in given)
            if parts[0] == "clients" and parts[2:3] in (["config"], ["logs"]) and not parts[1].startswith(HOST_OF_BROKER)
        }
        return tuple(sorted(named - {file.client for file in told}))

    def pasted(self) -> Pasted | None:
        """Decoded paste; ``None`` for a case from another source."""
        from casebook.formats.pasted import paste as pasted  # few cases were pasted

        return pasted.read(self.text_lines(PASTED)) if PASTED in self.items else None

    def logged_versions(self) -> tuple[StatedVersion, ...]:
        """Release that each broker logged at its last start, by path and line."""
        return logged.versions(self._log_lines())

    def logged_facts(self) -> Iterator[Logged]:
        """Yield facts in brokers' logs that znodes also have, unless they are older."""
        return logged.told(self._log_lines())

    def _log_lines(self) -> Iterator[logged.LogLine]:
        for path, broker in self.logs_of_brokers():
            for number, text in enumerate(text_lines(self.folder / path), start=1):
                yield logged.LogLine(broker, path, number, text)

    def configured_versions(self) -> tuple[StatedVersion, ...]:
        """``inter.broker.protocol.version`` by broker, from ``server.properties`` or a log."""
        told = [(b, found, f"brokers/{b}/server.properties") for b, found in self.server_properties().items()]
        told += [(b, found.settings, found.proof) for b, found in self.printed_settings().items()]
        return tuple(
            StatedVersion(broker=broker, text=version, proof=proof)
            for broker, found, proof in told
            if (version := found.get("inter.broker.protocol.version"))
        )


def _changes(lines: Iterator[bytes]) -> Iterator[ZnodeChange]:
    try:
        yield from history_lines.decode(lines)
    except ValueError as error:
        raise CaseError(f"{HISTORY} has a line that is {error}.") from None


def _as_far_as_readable(lines: Iterator[bytes]) -> Iterator[bytes]:
    with suppress(CaseError):
        yield from lines


@cache
def _printed(path: Path, _sha256: str | None) -> tuple[config_dumps.Printed, ...]:
    """Return the settings that brokers printed in a log, cached by its bytes."""
    return tuple(config_dumps.of_brokers(text_lines(path))) if _holds(path, config_dumps.OF_BROKERS) else ()


def _holds(path: Path, mark: bytes) -> bool:
    """Whether a file contains some bytes; ``False`` when unreadable."""
    end = b""
    with suppress(OSError), path.open("rb") as file:
        while block := file.read(_BLOCK):
            if mark in end + block:
                return True
            end = block[-len(mark) :]
    return False
