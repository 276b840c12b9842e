"""The story beside the picture: numbered sentences with their proofs, to be read, copied and taken away."""

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
    """The sentences of what is looked at, numbered; of very many those that decide, and of the first chain."""
    inside = [s for s in found.story if chosen.within(s.at) and chosen.broker in (None, s.broker)]
    if len(inside) > MOST_SENTENCES:
        ranked = sorted(inside, key=lambda s: (not s.key, s.chain))[:MOST_SENTENCES]
        kept = set(map(id, ranked))
        inside = [s for s in inside if id(s) in kept]
    return list(enumerate(inside, start=1))


def story(found: Timeline, chosen: Selection, numbered: Numbered, *, name: str) -> Markup:
    """The list, the button that copies it, and what can be taken away.

    Args:
        name: Of the case: the files are called by it.
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
    """A proof as a link to where it is quoted; nothing where there is none."""
    if not told_in:
        return Markup("")
    label = proof.cited_as(told_in)
    said = words or proof.short(told_in)
    return Markup('<a class="cb-proof" href="#{}" title="{}"><code>{}</code></a>').format(anchor(label), label, said)


def links(proofs: Iterable[str], *, most: int = 3) -> Markup:
    """Several proofs, each once, and how many more there are."""
    each = [told_in for told_in in dict.fromkeys(proofs) if told_in]
    more = Markup(" <span>and {} more</span>").format(words.count(len(each) - most)) if len(each) > most else ""
    return Markup(" ").join(map(link, each[:most])) + more


def cites(proofs: Iterable[str]) -> tuple[str, ...]:
    """What a view says that it cites, of its proofs."""
    return tuple(dict.fromkeys(proof.cited_as(told_in) for told_in in proofs if told_in))


def _sentence(sentence: Sentence, names: frozenset[str]) -> Markup:
    """Its text, ids as code; the first clause of one that decides stands out."""
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
    """What all times have in common, as a heading, and how the rest of each is written."""
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
    """A file inside a link: it can be saved without any script, and without a network."""
    return f"data:{kind};charset=utf-8;base64,{b64encode(content.encode(errors='replace')).decode()}"


def proofs(numbered: Numbered) -> Iterator[str]:
    """Everything that the story rests on."""
    for _, sentence in numbered:
        yield sentence.proof
