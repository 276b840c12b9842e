"""Service managers on brokers: ``systemctl status``, and the kernel's OOM killer.

A process named ``java`` need not be the broker. Source: ``src/systemctl/systemctl-show.c@v247, v252``; ``mm/oom_kill.c@v3.10,
v4.19, v5.10, v6.1`` (``Kill process`` up to 4.19, ``Killed process`` with ``UID:`` later).
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted import PastedLogLine
from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.facts.quotes import cut
from casebook.formats.pasted.damage.wrapped import DMESG_DATE
from casebook.formats.pasted.hosts.host import LONGEST, placed
from casebook.formats.pasted.text import PastedLine, one, spanned

_UNIT = re.compile(r"\s*[^\w\s/]?\s*(?P<unit>[\w@.\\:-]+\.(?:service|scope|slice|mount|timer))(?: - (?P<what>.*))?\s*")
_KEY = re.compile(
    r"\s*(?P<key>Loaded|Active|Duration|Drop-In|Docs|Process|Main PID|Status|Tasks|Memory|CPU|CGroup|IO|IP|Invocation"
    r"|TriggeredBy|Triggers"
    r"|Mem peak|FD Store|Error|Since|Cntrl PID|Transient|Until):? (?P<value>\S.*)"
)
_FLAT = re.compile(r"\s*[^\w\s/]?\s*(?P<unit>[\w@.\\:-]{1,120}\.service)(?: - .{1,200}?)? Loaded: .{1,20000}")
"""A status that lost its line ends."""
_BEFORE_KEY = re.compile(r"\s+(?=(?:Loaded|Active|Drop-In|Docs|Process|Main PID|Status|Tasks|Memory|CPU|CGroup): )")
_ACTIVE = re.compile(
    r"\s*Active: (?P<active>active|inactive|failed|activating|deactivating|reloading|maintenance)(?: \((?P<sub>[a-z-]+)\))?"
    r"(?: \(Result: (?P<result>[a-z-]+)\))?(?: since (?P<since>[^;]{3,60}))?(?:; (?P<ago>.{1,40}? ago))?.*"
)
_NOT_LOADED = re.compile(r".*\bUnit (?P<unit>\S+) failed to load: (?P<why>[^.]{1,200}).*")
_LOADED = re.compile(r"\s*Loaded: (?P<loaded>[\w-]+)(?: \((?P<file>[^;)]+)(?:; (?P<enabled>[\w-]+))?.*)?")
_TREE = re.compile(r"\s*[├└│─|`-]+.*|\s*/\S+\.(?:slice|service)\S*|\s+[├└].*")
_OF_PROCESS = re.compile(r"\s*(?:Main PID|Process): (?P<pid>\d+) (?P<command>.*?)\((?P<how>code=[^)]*)\).*")
_PID = re.compile(r"\s*Main PID: (?P<pid>\d+) \((?P<name>[^)=]+)\).*")
_IN_GROUP = re.compile(r"\s*[├└|`][─-]+\s*(?P<pid>\d{1,9}) (?P<what>\S.*)")
_DROPPED_IN = re.compile(r"\s*[├└|`][─-]+\s*(?P<files>\S+\.conf(?:,\s*\S+\.conf)*)\s*")
_PRESET = re.compile(r";\s*((?:vendor )?preset: [\w-]+)")
_MOST_OF_COMMAND = 400
_HEAP = re.compile(r"-Xm[sx]\d+[kKmMgG]?\b")
_IS_ACTIVE = re.compile(
    r"(?:.*[$#>]\s*)?(?:sudo\s+)?systemctl\s+is-(?:active|failed|enabled)\s+(?P<units>[\w@.:-]+(?: +[\w@.:-]+)*)\s*"
)
_STATES = ("active", "inactive", "failed", "activating", "deactivating", "unknown", "enabled", "disabled", "static", "masked")
_LISTED = re.compile(
    r"\s*[^\w\s/]?\s*(?P<unit>[\w@.\\:-]+\.(?:service|scope|mount|timer))\s+(?P<load>loaded|not-found|masked|error|bad-setting)"
    r"\s+(?P<active>active|inactive|failed|activating|deactivating|reloading)\s+(?P<sub>[a-z-]+)(?:\s.*)?"
)
"""A row of ``systemctl list-units``."""
_NONE = re.compile(r"\s*Unit (?P<unit>\S+) could not be found\..*")

_KILLED = re.compile(
    r".*?(?P<group>Memory cgroup out of memory: )?(?:(?P<done>Killed)"
    r"|Kill) process (?:(?P<pid>\d{1,9})(?:, UID \d+,)?,? ?)?\((?P<name>[^)]{1,64})\)(?P<rest>.*)"
)
_OF_KERNEL = re.compile(
    r".*(?:\binvoked oom-killer: |\boom_reaper: reaped process \d+|\boom-kill:constraint=|Memory cgroup out of memory: Kill"
    r"|\bTask in \S+ killed as a result of limit of|\bmemory: usage \d+kB, limit \d+kB|killed by the OOM killer"
    r"|Failed with result 'oom-kill')"
)
_SECONDS = re.compile(r"\[\s*(?P<since>\+?)(?P<up>\d{1,10}\.\d{1,9})\]")
_ENTRY = re.compile(r"\s*(?:\S+ kernel: )?\[\s*\d{1,9}\.\d{1,9}\]\s+(?P<says>[A-Za-z]\S*.*[a-z].*)")
_TROUBLE = re.compile(
    r"(?i)\bI/O error|read-only|\berror\b|timeout|timed out|corrupt|offline|hung|blocked for more than|out of memory"
    r"|segfault|link (?:is )?down"
)
"""A line of the kernel about disks, file systems, links and stuck tasks."""
_TABLE = re.compile(
    r"\s*(?:.*kernel: )?\[\s*\d+\.\d+\]\s+(?:\[\s*\d+\]\s+\d+\s+\d+\s.*|\[ ?pid ?\]\s+uid .*|Mem-Info:|Tasks state .*"
    r"|Call Trace:.*)"
)
_AMOUNT = re.compile(r"(?P<what>total-vm|anon-rss|file-rss|shmem-rss|pgtables):(?P<kb>\d+)kB")
_REAPED = re.compile(r".*oom_reaper: reaped process (?P<pid>\d+) \((?P<name>[^)]+)\),? now (?P<now>.*)")
_INVOKED = re.compile(r".*?(?P<name>[\w./#: -]{1,40}?) invoked oom-killer: (?P<asked>.*)")
_BY_SYSTEMD = re.compile(
    r".*systemd\[\d+\]: (?P<unit>\S+): (?P<what>A process of this unit has been killed by the OOM killer"
    r"|Failed with result 'oom-kill').*"
)
_SCORE = re.compile(r" score (?P<score>\d+)")
_OF_KILLED = re.compile(r"\b(UID|oom_score_adj):(-?\d+)")
_WHEN = re.compile(
    rf"\[(?P<zoneless>{DMESG_DATE})\]"
    r"|\b(?P<syslog>[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d)\b"
    r"|\b(?P<iso>\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*)|\b(?P<clock>\d\d:\d\d:\d\d)\b"
)
_PREFIX = 160
"""Maximum letters before a line's time: a host, a tag or a chat's prefix."""
_CHOSEN = re.compile(
    r".*\boom-kill:constraint=(?P<constraint>CONSTRAINT_\w+)(?=.*?(?:,oom_memcg=(?P<group>[^,\s]+))?(?:,task_memcg=(?P<of>[^,\s]+))?"
    r"[, ]task=(?P<name>[^,\s]+)(?:,pid=(?P<pid>\d+))?).*"
)
_OF_CHOSEN = re.compile(r"\b(nodemask|cpuset|mems_allowed|uid)=([^,\s]+)")
_COMM = re.compile(
    r".*\bCPU: (?P<cpu>\d+) (?:UID: \d+ )?PID: (?P<pid>\d+) Comm: (?P<name>\S+) .*?(?P<kernel>\d+\.\d+\.\d+\S*)(?: #.*)?\s*"
)
_REST = re.compile(
    r"\s*(?!.*\b[Kk]ill(?:ed)? process)(?:\d*kB|sacrifice child|or sacrifice|(?:total-vm|anon-rss|file-rss|shmem-rss):\d)"
)
_LIMIT = re.compile(r".*\bTask in (?P<of>\S+) killed as a result of limit of (?P<group>\S+)")
_USAGE = re.compile(r".*\bmemory: usage (?P<usage>\d+)kB, limit (?P<limit>\d+)kB, failcnt (?P<failed>\d+)")
_OF_MEMORY = re.compile(
    r".*?\b(?:Memory: (?P<available>\d+[kK]?)B?/(?P<all>\d+[kK]?)B? available.*|(?P<pages>\d+) pages RAM"
    r"|(?P<which>Free|Total) swap\s*= ?(?P<swap>\d+)kB)"
    r".*"
)
_HOST = re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\s+(?P<host>[\w.-]+)\s+kernel: ")
_COMMIT = re.compile(r".*os::commit_memory\(0x[0-9a-f]+, (?P<bytes>\d{1,18}), \d\) failed; error='(?P<error>[^']{1,80})'.*")
_INSUFFICIENT = re.compile(r"\s*#? ?There is insufficient memory for the Java Runtime Environment to continue\.\s*")
_MACHINE = re.compile(
    r"\s*(?P<cores>\d{1,3}) ?(?:C|c|cores?|CPUs?|vCPUs?|核)[\s,/x*+]{0,4}(?P<memory>\d{1,4} ?(?:G|GB|GiB"
    r"|g))(?: (?:of )?(?:RAM|memory))?\s*"
    r"|\s*(?P<swap>swap ?off|no swap|swap(?: is)? (?:off|disabled))\s*"
)
"""A machine in prose."""
_DOCKER = re.compile(r"\s*\"OOMKilled\": true,?\s*")


def services(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield every unit in ``systemctl status``; log lines below it are left to other readers."""
    places = list(placed(lines))
    whose = {here.at: here.broker for here in places}
    at = 0
    while at < len(lines):
        text = lines[at].text
        unit = _UNIT.fullmatch(text) if len(text) < 300 and _is_key(lines, at + 1) else None
        if "is-" in text[:400] and (states := _asked_states(lines, at)):
            for index, (asked, state) in enumerate(states, at + 1):
                span = spanned(lines, at if index == at + 1 else index, index + 1)
                said = f"{asked} is {state}"
                yield HostSaid("systemctl", span, said, whose.get(at), state == "failed", facts={"active": state})
            at += len(states) + 1
        elif failed := (_NOT_LOADED.fullmatch(text[:400]) if "failed to load" in text else None):
            said = f"{failed['unit']} failed to load: {failed['why'].strip()}"
            yield HostSaid("systemctl", one(lines[at]), said, whose.get(at), bad=True, facts={"unit": failed["unit"]})
            at += 1
        elif row := (_LISTED.fullmatch(text[:LONGEST]) if "." in text else None):
            said = f"{row['unit']} is {row['active']} ({row['sub']}), {row['load']}"
            facts = {"unit": row["unit"], "active": row["active"]}
            yield HostSaid("systemctl", one(lines[at]), said, whose.get(at), row["active"] == "failed", facts=facts)
            at += 1
        elif missing := (_NONE.fullmatch(text) if "could not be found" in text else None):
            yield HostSaid("systemctl", one(lines[at]), f"there is no unit {missing['unit']} on that host", whose.get(at))
            at += 1
        elif flat := (_FLAT.fullmatch(text) if "Active: " in text else None):
            parts = [lines[at]._replace(text=part) for part in _BEFORE_KEY.split(text)]
            said = _unit(parts, 1, len(parts), flat["unit"], whose.get(at))
            yield from [said] if said else []
            at += 1
        elif unit or (len(text) < LONGEST and _ACTIVE.fullmatch(text)):
            after = _end(lines, at + 1 if unit else at)
            said = _unit(lines, at, after, unit["unit"] if unit else None, whose.get(at))
            if said is not None:
                yield said._replace(text=f"{said.text}; described as {unit['what'].strip()}") if unit and unit["what"] else said
            at = after
        else:
            at += 1


def _asked_states(lines: Sequence[PastedLine], at: int) -> list[tuple[str, str]]:
    """Return each unit that a command asks for with its state, one a line; nothing when their numbers differ."""
    asked = _IS_ACTIVE.fullmatch(lines[at].text[:400])
    units = asked["units"].split() if asked else []
    states = list(itertools.takewhile(_STATES.__contains__, (line.text.strip() for line in lines[at + 1 :])))
    return list(zip(units, states, strict=True)) if len(units) == len(states) else []


def _is_key(lines: Sequence[PastedLine], at: int) -> bool:
    return at < len(lines) and _KEY.fullmatch(lines[at].text[:LONGEST]) is not None


def _end(lines: Sequence[PastedLine], at: int) -> int:
    while at < len(lines):
        text = lines[at].text[:LONGEST]
        if not (_KEY.fullmatch(text) or (text and _TREE.fullmatch(text))):
            return at
        at += 1
    return at


def _unit(lines: Sequence[PastedLine], at: int, after: int, unit: str | None, broker: int | None) -> HostSaid | None:
    texts = [line.text for line in lines[at:after]]
    active = next((found for text in texts if (found := _ACTIVE.fullmatch(text))), None)
    loaded = next((found for text in texts if (found := _LOADED.fullmatch(text))), None)
    name = unit or "a unit whose name was not pasted"
    if active is None:
        text = f"{name}: whether it is active was not pasted"
        return HostSaid(
            "systemctl", spanned(lines, at, after), text, broker, settle="paste all that systemctl status prints of the unit"
        )
    state = f"{active['active']} ({active['sub']})" if active["sub"] else active["active"]
    text = f"{name} is {state}"
    text += f", result {active['result']}" if active["result"] else ""
    text += f", since {active['since'].strip()}" if active["since"] else ""
    text += f", {active['ago']} when it was asked" if active["ago"] else ""
    if loaded:
        source = loaded["file"] or ""
        text += f"; {loaded['loaded']}" + (f" from {source}" if source.startswith("/") else f" ({source})" if source else "")
        text += f", {loaded['enabled']} at boot" if loaded["enabled"] else ""
        text += f" ({preset[1]})" if (preset := _PRESET.search(loaded[0])) else ""
    for line in dict.fromkeys(texts):
        if how := _OF_PROCESS.fullmatch(line):
            command = f" ({how['command'].strip()})" if how["command"].strip() else ""
            main = "main " if line.lstrip().startswith("Main") else ""
            text += f"; {main}process {how['pid']}{command} ended with {how['how'].removeprefix('code=')}"
        elif pid := _PID.fullmatch(line):
            text += f"; main process {pid['pid']} ({pid['name']})"
        elif (key := _KEY.fullmatch(line)) and key["key"] not in ("Loaded", "Active"):
            text += f"; {key['key'].lower()} {key['value']}"
    running = [
        f"{found['pid']} ({cut(found['what'].strip(), _MOST_OF_COMMAND)})"
        for line in texts
        if (found := _IN_GROUP.fullmatch(line))
    ]
    text += f"; in its control group: {', '.join(running)}" if running else ""
    changed = [found["files"] for line in texts if (found := _DROPPED_IN.fullmatch(line))]
    text += f"; changed by {', '.join(changed)}" if changed else ""
    heap = sorted({found for line in texts for found in _HEAP.findall(line)})
    text += f"; heap {' '.join(heap)}" if heap else ""
    bad = active["active"] == "failed" or active["result"] not in (None, "success")
    facts = {
        "unit": unit,
        "active": active["active"],
        "result": active["result"],
        "since": (active["since"] or "").strip() or None,
    }
    return HostSaid("systemctl", spanned(lines, at, after), text, broker, bad, facts=facts)


def kernel_lines(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield the kernel's undated lines on a killed process, as in ``dmesg``; and the tables before them."""
    for here in placed(lines):
        text = here.line.text
        if "omm: " in text and (by := _COMM.fullmatch(text[:LONGEST])):
            said = f"the kernel reports process {by['pid']} ({by['name']}), which ran on CPU {by['cpu']} of kernel {by['kernel']}"
            yield HostSaid("OOM killer", one(here.line), said, here.broker)
            continue
        dated = _WHEN.match(text.lstrip()) if text else None
        if not text or (dated and not dated["clock"]) or not (_SECONDS.match(text.lstrip()) or _is_killing(text)):
            continue
        said = _of_kernel(text, one(here.line), here.broker, _moment(text))
        if said is not None:
            yield said
        elif not is_table(text) and (entry := _ENTRY.fullmatch(text[:LONGEST])):
            bad = _TROUBLE.search(entry["says"]) is not None
            yield HostSaid("kernel", one(here.line), f"the kernel said, {_moment(text)}: {entry['says']}", here.broker, bad)


def java_memory(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield Java's errors on missing host memory, Docker's on a container killed for it, and prose on a machine."""
    for here in placed(lines):
        text = here.line.text
        if "commit_memory" in text and (failed := _COMMIT.fullmatch(text)):
            said = f"Java got no memory from the host: {failed['bytes']} bytes, {failed['error']}"
            yield HostSaid("Java", one(here.line), said, here.broker, bad=True, facts={"bytes": int(failed["bytes"])})
        elif _INSUFFICIENT.fullmatch(text):
            yield HostSaid("Java", one(here.line), "Java got no memory from the host, and ended", here.broker, bad=True)
        elif machine := (_MACHINE.fullmatch(text) if 0 < len(text) < _PREFIX else None):
            memory = f"the machine has {machine['cores']} cores and {machine['memory']} of memory"
            said = f"{'swap is off' if machine['swap'] else memory}, according to a remark"
            yield HostSaid("a remark", one(here.line), said, here.broker)
        elif "OOMKilled" in text and _DOCKER.fullmatch(text):
            said = "Docker says that the container was killed for want of memory"
            yield HostSaid("docker inspect", one(here.line), said, here.broker, bad=True, facts={"oom_killed": True})


def told_by_logs(logs: Sequence[PastedLogLine]) -> Iterator[HostSaid]:
    """Yield the same from dated lines, which are log lines as well."""
    for line in logs:
        if line.broker is None and _is_killing(line.text):
            said = _of_kernel(line.text, line.span, line.host, _moment(line.text))
            if said is not None:
                yield said


def _id(found: re.Match[str]) -> int | None:
    """Return a process id; ``None`` where a person left it out."""
    return int(found["pid"]) if found["pid"] else None


def _memory(found: re.Match[str]) -> str:
    """Return a host's memory; a page usually has 4 KiB, but not always."""
    if found["pages"]:
        return f"the host has {found['pages']} pages of memory"
    if found["which"]:
        return f"the host has {found['swap']} kB of swap {'free' if found['which'] == 'Free' else 'in all'}"
    return f"the host had {found['available']} of {found['all']} of memory available when it booted"


def _moment(text: str) -> str:
    """Return the time as printed before the message: a date has precedence over seconds, unless they begin the line."""
    head = text[:_PREFIX]
    if not _SECONDS.match(head.lstrip()) and (when := _WHEN.search(head)):
        return f"at {next(told for told in when.groups() if told)}"
    if seconds := _SECONDS.search(head):
        after = "the line before it" if seconds["since"] else "the host's boot"
        return f"{seconds['up']} s after {after}"
    return ""


def is_of_kernel(text: str) -> bool:
    """Return whether a line is from a host's kernel or systemd, not from a process there."""
    return (
        re.search(
            rf"\s(?:kernel|systemd(?:\[\d+\])?): |^\s*\[{DMESG_DATE}\] ",
            text[:200],
        )
        is not None
    )


def rest(text: str, following: str) -> str | None:
    """Return a line on a killed process joined with the next one, after folding by a narrow screen or a mail."""
    if not _KILLED.fullmatch(text[:LONGEST]) or not _REST.match(following[:LONGEST]) or _WHEN.match(following.lstrip()):
        return None
    within = text[-1:].isdigit() and following[:1].isdigit()
    return f"{text}{'' if within else ' '}{following.strip()}"


def is_table(text: str) -> bool:
    """Return whether the kernel prints it before a kill: the examined processes, without further content."""
    return len(text) < LONGEST and _TABLE.fullmatch(text) is not None


def _is_killing(text: str) -> bool:
    seen = text[:LONGEST]
    return any(word in seen.lower() for word in ("process", "oom", "memory: ", "pages ram", " swap ")) and (
        (_KILLED.fullmatch(seen) is not None and ("total-vm" in seen or "memory" in seen.lower()))
        or _OF_KERNEL.match(seen) is not None
        or _OF_MEMORY.fullmatch(seen) is not None
    )


def _of_kernel(text: str, where: LineSpan, broker: int | None, when: str) -> HostSaid | None:
    seen = text[:LONGEST]
    moment = f", {when}" if when else ", when is not printed"
    if killed := _KILLED.fullmatch(seen):
        amounts = ", ".join(f"{found['what']} {found['kb']} kB" for found in _AMOUNT.finditer(killed["rest"]))
        score = _SCORE.search(killed["rest"])
        of = "of memory in its cgroup" if killed["group"] else "of memory"
        did = "killed process" if killed["done"] else "chose to kill process"
        or_child = " or a child of it" if "sacrifice child" in killed["rest"] else ""
        said = f"the kernel {did} {killed['pid'] or 'without a printed id'} ({killed['name']}){or_child} for want {of}{moment}"
        said += f": {amounts}" if amounts else ""
        said += f", score {score['score']}" if score else ""
        said += "".join(f", {name} {number}" for name, number in _OF_KILLED.findall(killed["rest"]))
        said += f", on host {host['host']}" if (host := _HOST.search(text[:_PREFIX])) else ""
        said += "; its name does not show whether it was the broker" if killed["name"] == "java" else ""
        facts: dict[str, object] = {"pid": _id(killed), "name": killed["name"], "when": when.removeprefix("at ") or None}
        facts |= {found["what"]: int(found["kb"]) for found in _AMOUNT.finditer(killed["rest"])}
        return HostSaid("OOM killer", where, said, broker, bad=True, facts=facts)
    if reaped := _REAPED.fullmatch(seen):
        return HostSaid(
            "OOM killer",
            where,
            f"the memory of process {reaped['pid']} ({reaped['name']}) was taken back, now {reaped['now']}{moment}",
            broker,
        )
    if chosen := _CHOSEN.fullmatch(seen):
        where_from = f" in cgroup {chosen['group']}" if chosen["group"] else ""
        which = chosen["pid"] or "without a printed id"
        text = f"memory ran out{where_from} ({chosen['constraint']}), the kernel chose process {which} ({chosen['name']})"
        text += f" of cgroup {chosen['of']}" if chosen["of"] else ""
        text += "".join(f", {name} {value}" for name, value in _OF_CHOSEN.findall(seen))
        facts = {"constraint": chosen["constraint"], "cgroup": chosen["group"], "chosen": _id(chosen)}
        return HostSaid("OOM killer", where, text + moment, broker, bad=True, facts=facts)
    if memory := _OF_MEMORY.fullmatch(seen):
        return HostSaid("kernel", where, f"{_memory(memory)}{moment}", broker)
    if limit := _LIMIT.match(seen):
        text = f"cgroup {limit['group']} reached its limit of memory, and a process in {limit['of']} was killed{moment}"
        return HostSaid("OOM killer", where, text, broker, bad=True, facts={"cgroup": limit["group"]})
    if usage := _USAGE.match(seen):
        text = f"the cgroup used {usage['usage']} kB of its limit of {usage['limit']} kB"
        text += f", which it met {usage['failed']} times{moment}"
        return HostSaid("OOM killer", where, text, broker, facts={"limit_kb": int(usage["limit"])})
    if by := _BY_SYSTEMD.fullmatch(seen):
        return HostSaid("OOM killer", where, f"systemd says of {by['unit']}: {by['what']}{moment}", broker, bad=True)
    if "invoked oom-killer" in seen and (invoked := _INVOKED.fullmatch(seen)):
        name = invoked["name"].rpartition(" ")[2]
        text = f"{name} invoked the oom-killer: its request for memory was not met ({invoked['asked'].strip()}){moment}"
        return HostSaid("OOM killer", where, f"{text}; whether a process was killed, this line does not say", broker)
    return (
        HostSaid("OOM killer", where, f"the kernel looked for a process to kill, for lack of memory{moment}", broker)
        if _OF_KERNEL.match(seen)
        else None
    )
