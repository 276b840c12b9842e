"""Story next to the figure: numbered sentences with proofs, to read, copy and export."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup, escape

from casebook.findings import words
from casebook.kafka.past_rows import Sentence
from casebook.page import proof
from casebook.page.render import anchor, render
from casebook.questions.timeline.analysis import story as timeline_story
from casebook.questions.timeline.analysis.selection import Selection
from casebook.questions.timeline.analysis.timeline import Timeline

MOST_SENTENCES = 40
_DAY, _HOUR, _MINUTE = 86_400_000, 3_600_000, 60_000
_ID = re.compile(r"(/(?:brokers|controller|admin|config|isr_change)[\w./:-]*|\b0x[0-9a-f]{5,}…?)")

Numbered = Sequence[tuple[int, Sentence]]


def told(found: Timeline, chosen: Selection) -> Numbered:
    """Return the selected sentences, numbered; for very many, the decisive ones and the first chain."""
    inside = [s for s in found.story if chosen.within(s.at) and chosen.broker in (None, s.broker)]
    if len(inside) > MOST_SENTENCES:
        ranked = sorted(inside, key=lambda s: (not s.key, s.chain))[:MOST_SENTENCES]
        kept = set(map(id, ranked))
        inside = [s for s in inside if id(s) in kept]
    return list(enumerate(inside, start=1))


def story(found: Timeline, chosen: Selection, numbered: Numbered, *, name: str) -> Markup:
    """Show the list, its copy button, and the exports.

    Args:
        name: Name of the case, for file names.
    """
    times = [s.at for _, s in numbered if s.at is not None]
    head, clock = _clock(times)
    names = frozenset(f"{row.topic}-{row.partition}" for row in found.partition_history)
    inside = sum(chosen.within(s.at) and chosen.broker in (None, s.broker) for s in found.story)
    return render(
        "timeline_story",
        head=head,
        rows=[(number, s, "?" if s.at is None else clock(s.at), _sentence(s, names), link(s.proof)) for number, s in numbered],
        total=len(found.story),
        inside=inside,
        markdown=timeline_story.markdown(found),
        markdown_uri=_uri("text/markdown", timeline_story.markdown(found)),
        csv_uri=_uri("text/csv", timeline_story.csv(found)),
        file=re.sub(r"[^A-Za-z0-9._-]+", "_", name) or "case",
    )


def link(told_in: str, *, words: str = "") -> Markup:
    """Return a proof as a link to its quote; nothing without one."""
    if not told_in:
        return Markup("")
    label = proof.cited_as(told_in)
    said = words or proof.short(told_in)
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>{}</code></a>').format(anchor(label), label, said)


def links(proofs: Iterable[str], *, most: int = 3) -> Markup:
    """Return several proofs, each once, and how many more there are."""
    each = [told_in for told_in in dict.fromkeys(proofs) if told_in]
    more = Markup(" <span>and {} more</span>").format(words.count(len(each) - most)) if len(each) > most else ""
    return Markup(" ").join(map(link, each[:most])) + more


def cites(proofs: Iterable[str]) -> tuple[str, ...]:
    """Return the citations of a view among its proofs."""
    return tuple(dict.fromkeys(proof.cited_as(told_in) for told_in in proofs if told_in))


def _sentence(sentence: Sentence, names: frozenset[str]) -> Markup:
    """Return its text with ids as code; the first clause of a decisive one is bold."""
    lead, rest = timeline_story.first_clause(sentence.text) if sentence.key else ("", sentence.text)
    bold = Markup("<strong>{}</strong>").format(_marked(lead, names)) if lead else Markup("")
    return bold + _marked(rest, names)


def _marked(said: str, names: frozenset[str]) -> Markup:
    return Markup("").join(_code(word, names) for word in re.split(r"(\s+)", said))


def _code(word: str, names: frozenset[str]) -> Markup:
    bare = word.rstrip(".,;:)")
    if bare in names or _ID.fullmatch(bare):
        return Markup("<code>{}</code>{}").format(bare, word[len(bare) :])
    return escape(word)


def _clock(times: Sequence[int]) -> tuple[str, object]:
    """Return the common part of all times as a heading, and a formatter for the rest."""
    if not times:
        return "UTC", _full
    first, last = min(times), max(times)
    if first // _MINUTE == last // _MINUTE:
        return f"{words.clock(first)[:5]}, seconds UTC", lambda at: f"{at % _MINUTE / 1000:06.3f}"
    if first // _DAY == last // _DAY:
        return f"{words.day(first)}, UTC", _time
    return "UTC", _full


def _time(at: int) -> str:
    return f"{words.clock(at)}.{at % 1000:03d}"


def _full(at: int) -> str:
    return f"{words.when(at).partition(',')[0]} {_time(at)}"


def _uri(kind: str, content: str) -> str:
    """Return a file inside a link: it can be saved without script and network."""
    return f"data:{kind};charset=utf-8;base64,{b64encode(content.encode(errors='replace')).decode()}"


def proofs(numbered: Numbered) -> Iterator[str]:
    """Yield all proofs of the story."""
    for _, sentence in numbered:
        yield sentence.proof
