"""Output of ``df`` on Linux, macOS and BusyBox: full file systems, by space or inodes.

With ``-h`` everything is rounded up to two digits (``human_ceiling``, ``gnulib/lib/human.h``), and kept as printed. Only the
header shows whether numbers are blocks of which size, or inodes (``src/df.c@v9.1``, ``coreutils/df.c@1_36_0`` of BusyBox).
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from casebook.facts.pasted_hosts import HostSaid, LineSpan
from casebook.formats.pasted.hosts.host import LONGEST, placed, uncommented
from casebook.formats.pasted.text import PastedLine, spanned

_AMOUNT = r"-|-?\d[\d.,]{0,20}(?:[KMGTPEZ]i?B?|Bi?)?"
_ROW = re.compile(
    rf"(?P<device>\S.*?)?\s+(?:(?P<type>[a-z][\w.-]{{1,20}})\s+)?(?P<size>{_AMOUNT})\s+(?P<used>{_AMOUNT})"
    rf"\s+(?P<free>{_AMOUNT})\s+"
    rf"(?P<share>\d{{1,3}}%|-)(?:\s+(?P<iused>{_AMOUNT})\s+(?P<ifree>{_AMOUNT})\s+(?P<ishare>\d{{1,3}}%"
    rf"|-))?\s+(?P<mount>/\S*(?: \S+){{0,3}}|-)\s*"
)
_HEAD = re.compile(
    r"\s*(?:Filesystem|Dateisystem|Sys\. de fichiers|S\.ficheros|Filesyst\S*|Файл\.система|文件系统"
    r"|檔案系統|ファイルシス|파일\ ?시스템|Sist\.? Arq\.?|Sistema de arquivos|S\.ficheiros"
    r"|Bestandssysteem|System plików|Файлова система|Filsystem|Tiedostojärjestelmä|Souborový systém"
    r"|Dosyasistemi)\s+\S.*"
    r"(?:\S{1,12} ?%|Capacity|%)\s*.*"
)
_BLOCKS = re.compile(
    r"\b(?P<unit>1K|1024|512|1B|1M|1G|\d{1,9}[KMGT]?i?B?)[- ]?(?:blocks|Blöcke|blocs|bloques|blocos"
    r"|blocchi|bloki|blokken|块|區塊|ブロック|블록|блоков)"
    r"|\b(?:blocs|bloques|blocchi|blocos|bloki) (?:de|di|por) (?P<of>1K|1024|512|1M|1G)\b"
)
_INODES = re.compile(r"\b(?:Inodes|INodes|Inœuds|Nodos-i|inodos|Inodi)\b", re.IGNORECASE)
_TYPES = re.compile(r"\b(?:Type|Typ|Tipo)\b|类型")
_HUMAN = re.compile(
    r"\b(?:Size|Größe|Taill?e|Tamaño|Tam\.?|Dim\.|Dimens\.|Размер|Grootte|rozm\.|Storlek|Størrelse|Boyut)(?=\s|$)|容量|大小|サイズ|크기"
)
_ASKED = re.compile(r"(?:.*[\s$#%>;&|(])?df(?P<options>(?:\s+-[A-Za-z]+)+)(?:\s.*)?")
_HEAD_OF = {False: "Size", True: "Inodes"}
"""Header according to the command, for rows without one: ``df -h | grep /data``."""
_DEVICE = re.compile(r"(?:/dev/\S+|[\w.-]+:/\S*|\S+/\S+|tmpfs|overlay2?|devtmpfs|shm|udev|none|rootfs|aufs|[A-Z]:\\\\?)")
_WORD = re.compile(r"[\w./:@-]+")
_FOLDED = re.compile(rf".*\s(?:{_AMOUNT})\s+(?:{_AMOUNT})\s+\d{{1,3}}%\s*")
_MOUNT = re.compile(r"\s*/\S*\s*")
"""A row folded by a mail or a chat before its last column."""
_UNIT = {"1K": "KiB", "1024": "KiB", "1B": "bytes", "1M": "MiB", "1G": "GiB", "512": "blocks of 512 bytes"}
_NO_DISK = ("tmpfs", "devtmpfs", "squashfs", "udev", "none", "proc", "shm", "devfs", "map")
_TOTAL = ("total", "insgesamt")
_FULL = 95
"""Minimum percentage of a full disk: space reserved for root counts as used."""


def volumes(lines: Sequence[PastedLine]) -> Iterator[HostSaid]:
    """Yield every row of ``df``; its header, and a device alone above its row, belong to the first one."""
    head, begun, device, folded = None, None, None, None
    beside = _beside_rows(lines)
    for here in placed(lines):
        text = uncommented(here.line.text)
        if folded is not None and folded == here.at:
            continue
        if (
            "%" in text
            and here.at + 1 < len(lines)
            and _FOLDED.fullmatch(text)
            and _MOUNT.fullmatch(lines[here.at + 1].text[:200])
        ):
            text, folded = f"{text} {lines[here.at + 1].text.strip()}", here.at + 1
        if len(text) < 400 and _HEAD.fullmatch(text):
            head, begun, device = text, here.at, None
        elif asked := (_ASKED.fullmatch(text) if "df" in text and len(text) < 400 else None):
            head, begun, device = _HEAD_OF["i" in (asked["options"] or "")], None, None
        elif (row := _row(text, head, device is not None, here.at in beside)) is not None:
            whole = device is not None and not row["device"]
            first = here.at - 1 if whole else here.at
            if row["device"] or whole:
                name = device if whole else row["device"].strip()
                yield _said(
                    row,
                    name,
                    head,
                    spanned(lines, first if begun is None else begun, 1 + (folded if folded == here.at + 1 else here.at)),
                    here.broker,
                )
            begun, device = None, None
        elif head is not None and _DEVICE.fullmatch(text):
            device = text
        else:
            head, begun, device = (head, begun, None) if not text.strip(" -") and head else (None, None, None)


def is_head(text: str) -> bool:
    """Return whether it is a header of ``df`` without rows."""
    return len(text) < LONGEST and _HEAD.fullmatch(text[:400]) is not None


def _beside_rows(lines: Sequence[PastedLine]) -> set[int]:
    """Return lines adjacent to a row recognised by its device."""
    rows = [at for at, line in enumerate(lines) if "%" in line.text and _row(line.text, None, False, False)]
    return {at + step for at in rows for step in (-1, 1)}


def _row(text: str, head: str | None, has_device: bool, is_beside: bool) -> Mapping[str, str | None] | None:
    """Parse a row; without a header above it must start with a device."""
    expected = head is not None or has_device
    if not ("/" in text or text.startswith(_TOTAL)) or ("%" not in text and not expected) or len(text) > 1000:
        return None
    found = _ROW.fullmatch(text)
    if found is None:
        return None
    device = (found["device"] or "").strip()
    if not expected and not _DEVICE.fullmatch(device) and not (is_beside and (_WORD.fullmatch(device) or not device)):
        return None
    if is_beside and not device and not expected:
        return {**found.groupdict(), "device": "a device whose name was not pasted"}
    if found["type"] and not _TYPES.search(head or ""):
        return {**found.groupdict(), "device": f"{device} {found['type']}", "type": None}
    return {**found.groupdict(), "device": device}


def _said(row: Mapping[str, str | None], device: str, head: str | None, where: LineSpan, broker: int | None) -> HostSaid:
    share = int(row["share"][:-1]) if row["share"] and row["share"] != "-" else None
    place = f"{row['mount']} ({device})" if device.split()[0] not in _TOTAL else "the sum of all"
    of = _measured(head, row)
    facts: dict[str, object] = {"mount": row["mount"], "device": device, "share": share, "of": of}
    if not of:
        columns = f"{row['size']}, {row['used']} and {row['free']}"
        text = f"{place} is {row['share']} full; of space or of inodes is not known, as the header of df was not pasted"
        text += f"; its columns are {columns}"
        return HostSaid("df", where, text, broker, settle="paste df together with its first line", facts=facts)
    amount = _as_inodes if of == "inodes" else _as_space
    text = f"{place} is {row['share']} full of {of}: {amount(row, head)}"
    text += f"; file system {row['type']}" if row["type"] else ""
    bad = share is not None and share >= _FULL and _is_disk(device, row)
    if row["ishare"] and row["ishare"] != "-":
        text += f"; of inodes {row['ishare']}: {row['iused']} used, {row['ifree']} free"
        facts["inodes_share"] = int(row["ishare"][:-1])
        bad = bad or (_is_disk(device, row) and facts["inodes_share"] >= _FULL)
    return HostSaid("df", where, text, broker, bad, facts=facts)


def _measured(head: str | None, row: Mapping[str, str | None]) -> str:
    """Return ``space`` or ``inodes``; ``""`` when only a header would show it."""
    if head is None:
        return "space" if row["ishare"] else ""
    if _INODES.search(head) and not row["ishare"]:
        return "inodes"
    return "space" if _BLOCKS.search(head) or _HUMAN.search(head) or row["ishare"] else ""


def _as_space(row: Mapping[str, str | None], head: str | None) -> str:
    blocks = _BLOCKS.search(head or "")
    amounts = f"{row['size']} in all, {row['used']} used, {row['free']} free"
    if not (row["size"] or "").isdecimal():
        return f"{amounts} (rounded)"
    unit = (blocks["unit"] or blocks["of"]) if blocks else "a size that the header gives"
    return f"{amounts}, in {_UNIT.get(unit, f'blocks of {unit}')}"


def _as_inodes(row: Mapping[str, str | None], _head: str | None) -> str:
    return f"{row['size']} in all, {row['used']} used, {row['free']} free"


def _is_disk(device: str, row: Mapping[str, str | None]) -> bool:
    """Return whether it is a disk, not memory or an image: those are full by design."""
    return not device.startswith((*_NO_DISK, "/dev/loop")) and row["type"] not in _NO_DISK and row["mount"] != "-"
