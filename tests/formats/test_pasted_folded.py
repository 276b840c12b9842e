"""Real outputs as a screen of some width shows them: broken at one column, also within words."""

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from casebook.collect.pasted import secrets
from casebook.facts.pasted import OF_TOOLS, Pasted
from casebook.formats.pasted import paste

OUTPUTS = {file.stem: file.read_text().splitlines() for file in sorted((Path(__file__).parent / "pasted").glob("*.txt"))}


def folded(lines: list[str], width: int) -> list[str]:
    return [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]


def rows(found: Pasted) -> list[tuple]:
    """What was read, wherever it stands."""
    values = [row._asdict() for name in OF_TOOLS for row in getattr(found, name)]
    return [tuple(value for name, value in row.items() if name not in ("span", "listing")) for row in values]


@given(st.sampled_from(sorted(OUTPUTS)), st.integers(60, 200))
@settings(max_examples=150)
def test_same_rows(name, width):
    """Or it is said that something was not understood."""
    lines = OUTPUTS[name]
    assume(sum(len(line) > width for line in lines) > 1)
    found = paste.read(folded(lines, width))
    assert rows(found) == rows(paste.read(lines)) or found.not_understood


@pytest.mark.parametrize("name", ["groups_2.8.2", "groups_2.8.2_members", "groups_3.9.2_state", "topics_2.8.2"])
@pytest.mark.parametrize("width", [80, 100, 120])
def test_whole(name, width):
    lines = OUTPUTS[name]
    whole, found = paste.read(lines), paste.read(folded(lines, width))
    assert rows(found) == rows(whole)
    assert len(found.not_understood) == len(whole.not_understood)


@pytest.mark.parametrize("quote", ["", "> "])
def test_blanks_at_the_end_are_lost(quote):
    """As chats and mails remove them: the row's rest begins with blanks."""
    lines = OUTPUTS["groups_2.8.2_members"]
    found = paste.read([f"{quote}{line}".rstrip() for line in folded(lines, 100)])
    assert rows(found) == rows(paste.read(lines))


def test_a_row_has_all_its_lines():
    lines = folded(OUTPUTS["groups_2.8.2"], 100)
    for row in paste.read(lines).offsets:
        text = "".join(lines[row.span.first - 1 : row.span.last])
        assert f"{row.group} " in text
        assert text.endswith("consumer-billing-1")


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_a_row_of_a_list_is_whole(name):
    """Lines of the same width by chance stay what they are."""
    wide = max(map(len, OUTPUTS[name])) + 2
    padded = [line.ljust(wide, " ") if line and not line.startswith("$") else line for line in OUTPUTS[name]]
    assert rows(paste.read(padded)) == rows(paste.read(OUTPUTS[name]))


@pytest.mark.parametrize("prompt", ["root@kb3:/opt/kafka#", "[ops@kb3 ~]$", "sh-4.2$", "PS C:\\kafka>"])
def test_the_next_prompt_is_no_rest(prompt):
    """Below the last of two rows of the same width."""
    lines = [line for line in OUTPUTS["groups_2.8.2"] if not line.startswith("$")]
    owners = [row.member for row in paste.read([*lines, prompt]).members]
    assert owners == [row.member for row in paste.read(lines).members]


def test_a_shell_breaks_what_is_typed_elsewhere():
    """Where its prompt is coloured, commands are wider than the screen."""
    command = (
        "ops@zkadmin:/opt/kafka# kafka-configs.sh --zookeeper zk1:2181 --describe --entity-type topics --entity-name t --x yy"
    )
    configs = (
        "Configs for topic 't{}' are leader.replication.throttled.replicas=0:21,1:22,retention.ms=21600000,min.insync.replicas=2"
    )
    lines = [part for at in range(3) for part in (command, *folded([configs.format(at)], 80))]
    expected = {"leader.replication.throttled.replicas": "0:21,1:22", "retention.ms": "21600000", "min.insync.replicas": "2"}
    assert [dict(row.settings) for row in paste.read(lines).configs] == [expected] * 3


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_hidden_secret_breaks_no_reading(width):
    """A line without its secret is shorter than the screen was."""
    text = "listener.name.internal.ssl.keystore.password=hQ7vX2mZk9RtB4wN"
    lines = [
        "$ kafka-configs.sh --bootstrap-server kb1:9092 --describe --entity-type brokers --entity-name 1",
        "Dynamic configs for broker 1 are:",
        f"  {text} sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{text}}}",
        "  log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2, "
        "DEFAULT_CONFIG:log.cleaner.threads=1}",
    ]
    safe = secrets.redacted(f"{line}\n".encode() for line in folded(lines, width))
    read = [each for row in paste.read(line.decode() for line in safe).configs for each in row.settings.items()]
    assert ("log.cleaner.threads", "2") in read
    assert {name for name, _ in read} <= {"log.cleaner.threads", text.partition("=")[0]}


@pytest.mark.parametrize("remark", ["why does it lag so much? thanks", "and now it lags, which looks strange to me"])
def test_a_remark_below_rows_is_no_rest(remark):
    """Rows of the same width by chance."""
    lines = [line for line in OUTPUTS["groups_2.8.2"] if not line.startswith("$")]
    found = paste.read([*lines, remark])
    assert rows(found) == rows(paste.read(lines))
    assert found.offsets[-1].span.last == len(lines)
    log = "[2026-01-01 10:00:0{},000] INFO [Partition orders-0 broker=3] Shrinking ISR from 1,2,3 to 3 (kafka.cluster.Partition)"
    assert paste.read([log.format(0), log.format(1), remark]).logs[1].text.endswith("(kafka.cluster.Partition)")
