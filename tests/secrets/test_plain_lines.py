"""Most lines are passed at first sight; no rule would have found anything in any of them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casebook.collect.redaction import redact_log, scanner, words
from casebook.collect.redaction.disguises import undisguised
from casebook.collect.redaction.names import is_sensitive
from casebook.collect.redaction.rules import ends_with_name, ends_with_pair, without_named
from casebook.collect.redaction.shapes import has_random
from tests.secrets import forms, kinds, sentences

RULES = {f"{number}-{rule.name}": rule for number, rule in enumerate(scanner.rules())}
PIECES = [piece for form in (*forms.NAMED, *forms.LONE, *forms.KEYS) for piece in form.replace("{s}", " ").split(" ")]

pieces = st.one_of(
    st.sampled_from(PIECES),
    st.text(st.characters(codec="latin-1"), max_size=8),
    st.text("abXY19+/=._:-@", min_size=8, max_size=44),
    st.sampled_from(list({**kinds.ANY, **kinds.TYPED}.values())).flatmap(
        lambda make: st.integers(0, 10_000).map(lambda seed: make(random.Random(seed)))
    ),
)
lines = st.lists(pieces, max_size=8).flatmap(lambda parts: st.sampled_from(["", " ", "=", '"']).map(lambda by: by.join(parts)))


def by_all_rules(text: bytes) -> bool:
    """Whether any rule at all finds something in a line, or in the one after it by what this one ends with."""
    named = without_named(text, is_sensitive) != text
    return named or has_random(text) or any(scanner.spans(text)) or ends_with_name(text) or ends_with_pair(text)


@settings(max_examples=400)
@given(text=lines)
def test_no_rule_would_find_anything(text):
    """Neither as the line stands, nor as a person reads it: of pieces of lines with secrets, put together anyhow."""
    line = text.encode()
    if words.Plain().line(line):
        assert not by_all_rules(line)
        assert not by_all_rules(undisguised(line))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@settings(max_examples=6)
@given(data=st.data())
def test_what_a_public_rule_matches_is_not_passed(rule, data):
    """Whatever the rule matches is likely by its own hint, also among other words and after them."""
    found = data.draw(st.from_regex(rule.pattern, alphabet=st.characters(min_codepoint=33, max_codepoint=126)))
    match = rule.pattern.search(found)
    assert scanner.is_likely(scanner.folded(match[0]))
    if len(match[0]) >= 16:
        assert not words.Plain().line(f"INFO x {found} y".encode())


@given(token=st.text("abcXYZ0123456789+/_-", min_size=20, max_size=60), digit=st.sampled_from("0123456789"))
def test_digits_are_all_alike(token, digit):
    """A word is judged as any other that differs from it in digits only."""
    other = "".join(digit if letter.isdigit() else letter for letter in token)
    assert has_random(token.encode()) == has_random(other.encode())


def test_the_order_of_lines_does_not_matter():
    """What was seen before changes nothing: each line for itself gives what all of them give."""
    chance = random.Random(3)
    texts = [f"{sentence}\n".encode() for sentence in sentences.real()[:2000]]
    texts += [forms.planted(form, kinds.ANY["generated"](chance)).split("\n")[0].encode() + b"\n" for form in forms.NAMED]
    shuffled = chance.sample(texts, len(texts))
    alone = {line: next(redact_log([line])) for line in texts}
    assert all(next(redact_log([line, b"\n"])) == alone[line] for line in shuffled)
