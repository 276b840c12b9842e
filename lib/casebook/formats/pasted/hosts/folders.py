"""Log dirs as listed by Windows (``dir``, PowerShell), and by ``ls`` with names only.

Sizes of Windows are exact, its times have no zone and whole minutes: they stay unknown. Names alone have no size.
"""

import re
from collections.abc import Iterator, Sequence

from casebook.facts.pasted_hosts import HostSaid, ListedFile
from casebook.formats.broker import log_dir_names
from casebook.formats.pasted.hosts.host import Frame, Placed, placed
from casebook.formats.pasted.hosts.listing import asked_folder, entered
from casebook.formats.pasted.text import PastedLine, one

_FOLDER = re.compile(
    r"\s*(?:Directory of|Directory:|Verzeichnis von|Verzeichnis:|R[ée]pertoire de|R[ée]pertoire :|Directorio de|Directorio:"
    r"|Directory di|Pasta de|Каталог:?|Содержимое папки|目录:)\s+(?P<path>[A-Za-z]:\\.*?|\\\\\S.*?)\s*"
    r"|\s*(?P<named>[A-Za-z]:\\.*?)\s*(?:的目录|的目錄|のディレクトリ|디렉터리)\s*"
)
_PROMPT = re.compile(
    r"\s*(?:PS )?(?P<path>[A-Za-z]:\\[^>]*)>\s*(?:dir|ls|gci|Get-ChildItem)\b(?P<words>[^|]*)(?:\|.*)?", re.IGNORECASE
)
_BELOW = re.compile(r"(?i)(?:^|\s)(?:/s|-recurse)\b")
_NAMED = re.compile(r"\s[\"']?(?P<path>[A-Za-z]:\\[^\"'|*?]*?|\\\\[^\"'|*?]*?)[\"']?(?=\s+[/-]|\s*$)")
_DATE = (
    r"(?:\d{1,2}[/.-]\d{1,2}[/.-]\d{4}|\d{4}[/-]\d{2}[/-]\d{2})"
    r"\.?\s+(?:(?:上午|下午|午前|午後|오전|오후)\s?)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?(?:[AP]M|[ap]\.?\s?m\.))?"
)
_AMOUNT = r"\d{1,3}(?:[.,' ]\d{3}){1,6}|\d{1,18}"
_DIR = re.compile(
    rf"\s*(?P<when>{_DATE})\s+(?:(?P<folder><(?:DIR|JUNCTION|SYMLINKD|REP)>)|(?P<size>{_AMOUNT}))\s+(?P<name>(?!(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s)\S.*?)\s*"
)
"""A level behind what looks like a size is of a log entry with milliseconds there."""
_NAMELESS = re.compile(rf"\s*{_DATE}\s+(?:{_AMOUNT})\s*")
_POWERSHELL = re.compile(rf"\s*(?P<mode>[dl-][a-z-]{{4,5}})\s+(?P<when>{_DATE})\s+(?:(?P<size>\d{{1,18}})\s+)?(?P<name>\S+)\s*")
_WITHIN = re.compile(
    r"\s*(?:Volume in drive \S.*|Volume Serial Number is .*|Mode\s+LastWriteTime\s+Length\s+Name|-{4}\s+-{4,}.*"
    r"|Datentr\S+ in Laufwerk .*"
    r"|.*(?:卷的序列号是|中的卷|磁碟區|ボリューム|El volumen de la unidad|El número de serie del volumen"
    r"|O volume na unidade|O Número de Série).*"
    r"|Volumeseriennummer: .*|Le volume dans le lecteur .*|Le numéro de série du volume est .*)\s*"
)
_ALL = re.compile(
    r"\s*(?:Total Files Listed|Anzahl der angezeigten Dateien|Total des fichiers list\S*|Total de archivos en la lista"
    r"|Total de arquivos na lista|Totale file elencati|Totaal aantal weergegeven bestanden|Всего файлов|所列文件总数|列出檔案總數"
    r"|ファイルの総数|전체 파일)\s*[:：]?\s*",
    re.IGNORECASE,
)
"""Heading of ``dir /s`` above the sums of all folders."""
_FILES = re.compile(
    rf"\s*(?P<files>\d{{1,9}}) (?:File\(s\)|file|个文件|個檔案|個のファイル|개 파일|arquivo\(s\)"
    rf"|Datei\(en\)|fichier\(s\)|archivos?|файлов),?\s+(?P<bytes>{_AMOUNT}) \S+\s*"
)
_FREE = re.compile(
    rf"\s*(?P<dirs>\d{{1,9}}) (?:Dir\(s\)|directory|个目录|個目錄|個のディレクトリ|개 디렉터리|pasta\(s\)"
    rf"|Verzeichnis\(se\)|,? ?R[ée]p\(s\)|dirs|папок),?\s+(?P<bytes>{_AMOUNT}) \S.*"
)
_LONG = re.compile(r"\bll\b|\bls\s(?:.*\s)?-(?!-)\w*[lgno]")
_BESIDE = re.compile(
    r"leader-epoch-checkpoint|partition\.metadata|meta\.properties|(?:cleaner|log-start|recovery-point"
    r"|replication)-offset(?:-checkpoint)?"
    r"|(?:cleaner|log-start|recovery-point|replication)-offset-checkpoint\.tmp|recovery-point-offset-checkpoint|replication-offset-checkpoint|\.lock|\.kafka_cleanshutdown|lost\+found"
)
_COMPLETED = re.compile(r".{0,200}[$#]\s+(?:vim?|nano|cat|less|more|head|tail|cd)\s+(?P<folder>[\w./@+-]+/)\s*")
"""A command that its shell has completed: the names in the folder follow."""
_PATH = re.compile(r"(?:/[\w.@+-]+)+/?")
_BELOW_HERE = re.compile(r"(?:[\w.@+-]+/)*[\w.@+-]+-\d{1,9}/?")
"""A partition's folder, as seen from another one."""
_MARKS = "/*@"
"""Marks behind a name by ``ls -F`` and ``ls -p``."""
_UNNAMED = "a folder whose name was not pasted"
_LONGEST, _MOST_NAMES = 2000, 50_000


def windows(lines: Sequence[PastedLine]) -> Iterator[ListedFile | HostSaid | Frame]:
    """Yield every file in a log dir listed by Windows, and the disk summary below."""
    folder, whole, seen, below, begin, counted = "", "", False, False, 0, False
    for here in placed(_unwrapped(lines)):
        text, where = here.line.text, one(here.line)
        if len(text) > _LONGEST:
            continue
        if found := (_FOLDER.fullmatch(text) or _PROMPT.fullmatch(text) if "\\" in text else None):
            words = found.groupdict().get("words") or ""
            named = _NAMED.search(words)
            path = named["path"] if named else found["path"] or found.groupdict().get("named") or ""
            whole, seen, counted = path.replace("\\", "/").rstrip("/"), True, False
            folder, begin, below = ("", here.line.number, True) if _BELOW.search(words) else (whole, here.line.number, False)
            yield Frame(where)
        elif row := (_DIR.fullmatch(text) or _POWERSHELL.fullmatch(text) if ":" in text else None):
            counted = False
            yield _listed(row, folder, here, begin)
        elif (seen or folder) and (files := _FILES.fullmatch(text)):
            all_of_it = f"{whole} with all below it" if whole and below else "the whole listing, all its folders together,"
            name = all_of_it if counted or (below and not folder) else folder or _UNNAMED
            counted = True
            said = f"{name} has {files['files']} files of {files['bytes']} bytes in all"
            yield HostSaid("dir", where, said, here.broker, facts={"files": int(files["files"])})
        elif (seen or folder) and (free := _FREE.fullmatch(text)):
            name = folder or whole or _UNNAMED
            said = f"{free['bytes']} bytes are free on the disk of {name}; its size is not printed"
            said += f"; {free['dirs']} folders are listed"
            yield HostSaid("dir", where, said, here.broker, facts={"free": _number(free["bytes"])})
        elif _ALL.fullmatch(text):
            counted = True
            yield Frame(where)
        elif _WITHIN.fullmatch(text) or (":" in text and _NAMELESS.fullmatch(text)):
            yield Frame(where)


def _unwrapped(lines: Sequence[PastedLine]) -> Iterator[PastedLine]:
    """Yield the lines; a file whose name a mail has put on the next line stands there with its time and size."""
    before = ""
    for line in lines:
        is_name = bool(before) and log_dir_names.file(line.text.strip()) is not None
        yield line._replace(text=f"{before} {line.text.strip()}") if is_name else line
        before = line.text if ":" in line.text and _NAMELESS.fullmatch(line.text[:_LONGEST]) else ""


def _listed(row: re.Match[str], folder: str, here: Placed, begin: int) -> ListedFile | HostSaid | Frame:
    if row["name"] in (".", ".."):
        return Frame(one(here.line))
    is_folder = bool(row.groupdict().get("folder") or (row.groupdict().get("mode") or "").startswith("d"))
    is_known = log_dir_names.folder(row["name"]) if is_folder else log_dir_names.file(row["name"])
    when = row["when"].strip()
    if is_known is None:
        size = f"{row['size']} bytes, " if row["size"] else ""
        said = f"{folder or _UNNAMED} also holds {row['name']} ({size}{when}, as printed)"
        return HostSaid("dir", one(here.line), said, here.broker, facts={"beside": {row["name"]: row["size"]}})
    size = _number(row["size"]) if row["size"] else None
    exact = None if is_folder else size
    return ListedFile(folder, row["name"], one(here.line), is_folder, exact, size, None, here.broker, begin, when)


def _number(text: str) -> int | None:
    digits = re.sub(r"\D", "", text)
    return int(digits) if digits and int(digits) < 2**63 else None


def names(lines: Sequence[PastedLine]) -> Iterator[ListedFile | HostSaid]:
    """Yield lone names: lines of only file names of a log dir, and below ``ls`` also folders."""
    folder, asked, begin, count, inside, broker = "", False, 0, 0, "", None
    for here in placed(lines):
        text = here.line.text
        inside, broker = entered(text, inside if here.broker == broker else ""), here.broker
        if count > _MOST_NAMES:
            return
        if not text or len(text) > _LONGEST:
            continue
        if completed := _COMPLETED.fullmatch(text):
            folder, asked, begin = completed["folder"].rstrip("/"), True, here.line.number
        elif (told := asked_folder(text, inside)) is not None and not _LONG.search(text):
            folder, asked, begin = told, True, here.line.number
        elif text.endswith(":") and asked and (_PATH.fullmatch(text[:-1]) or _BELOW_HERE.fullmatch(text[:-1])):
            folder, begin = text[:-1], here.line.number
        elif (found := text.split()) and all(map(_is_name, found)) and (asked or _shows_itself(found)):
            found = [name.rstrip(_MARKS) for name in found]
            files = [name for name in found if log_dir_names.file(name)]
            folders = [name for name in found if log_dir_names.folder(name) and name not in files]
            count += len(files) + len(folders)
            begin = begin or here.line.number
            for name in files + folders:
                yield ListedFile(folder, name, one(here.line), name in folders, None, None, None, here.broker, begin)
            if others := [name for name in found if name not in files and name not in folders]:
                said = f"{folder or _UNNAMED} also holds {', '.join(others)}"
                yield HostSaid("listing", one(here.line), said, here.broker, facts={"beside": dict.fromkeys(others)})
        else:
            folder, asked, begin = "", False, here.line.number


def _shows_itself(names: Sequence[str]) -> bool:
    """Return whether names are of a log dir without a command above: a segment's file, or several with a checkpoint."""
    return any(map(log_dir_names.file, names)) or (len(names) > 1 and any(map(_BESIDE.fullmatch, names)))


def _is_name(marked: str) -> bool:
    word = marked.rstrip(_MARKS)
    return log_dir_names.file(word) is not None or log_dir_names.folder(word) is not None or _BESIDE.fullmatch(word) is not None
