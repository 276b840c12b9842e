"""Files of clients: every name and spelling that counts, what the file does not tell, and files made to break a reader."""

import javaproperties
import yaml
from hypothesis import given
from hypothesis import strategies as st

from casebook.facts.clients import CONSUMER, JAVA, LIBRDKAFKA, PRODUCER, SCALA, SPRING, ClientFile
from casebook.formats.clients.client_properties import LONGEST, parse
from tests.ends import ends

KEYS = st.sampled_from(["acks", "retries", "linger.ms", "enable.idempotence", "group.id", "auto.offset.reset", "foo.bar"])
VALUES = st.sampled_from(["all", "1", "0", "true", "false", "latest", "9", "${X}", "", "null", "zwölf"])


def read(text: str, file: str = "app.properties") -> dict[str, ClientFile]:
    return {found.kind: found for found in parse(text, client="app", file=f"clients/app/config/{file}")}


def values(text: str, file: str = "app.properties", kind: str = PRODUCER) -> dict[str, str | None]:
    return {key: given.value for key, given in read(text, file)[kind].given.items()}


class TestNames:
    def test_java(self):
        """Java's own names, in a properties file, with their lines."""
        found = read("# billing\nkey.serializer=x\nacks=1\nmax.in.flight.requests.per.connection : 3\nenable.idempotence true\n")
        given = found[PRODUCER].given
        assert {key: (one.value, one.line) for key, one in given.items()} == {
            "acks": ("1", 3),
            "max.in.flight.requests.per.connection": ("3", 4),
            "enable.idempotence": ("true", 5),
        }
        assert found[PRODUCER].library == JAVA
        assert CONSUMER not in found

    def test_librdkafka(self):
        """Its own names and aliases, those of topics among them (CONFIGURATION.md); -1 is all, smallest is earliest."""
        text = "request.required.acks=-1\nmessage.send.max.retries=2\nmax.in.flight=7\nmessage.timeout.ms=9\nauto.offset.reset=smallest\n"
        found = read(text, "shop.conf")
        assert {key: one.value for key, one in found[PRODUCER].given.items()} == {
            "acks": "all", "retries": "2", "max.in.flight.requests.per.connection": "7", "delivery.timeout.ms": "9",
        }  # fmt: skip
        assert found[CONSUMER].given["auto.offset.reset"].value == "earliest"
        assert {one.library for one in found.values()} == {LIBRDKAFKA}

    def test_the_old_scala_producer_gives_itself_away(self):
        """``producer.type`` was its alone."""
        assert read("metadata.broker.list=a:1\nproducer.type=async\nrequest.required.acks=1\n")[PRODUCER].library == SCALA

    def test_spring_nested_and_relaxed(self):
        """Boot's tree, kebab, camel, brackets, and properties for both that one's own go before."""
        text = """
spring:
  kafka:
    properties:
      isolation.level: read_committed
      "[retries]": 7
    producer:
      acks: -1
      retries: 3
      properties: {enable.idempotence: "false"}
    consumer: {enableAutoCommit: off, auto-offset-reset: earliest}
"""
        found = read(text, "application.yml")
        assert {key: one.value for key, one in found[PRODUCER].given.items()} == {
            "acks": "all", "retries": "3", "enable.idempotence": "false",
        }  # fmt: skip
        assert {key: one.value for key, one in found[CONSUMER].given.items()} == {
            "enable.auto.commit": "false", "auto.offset.reset": "earliest", "isolation.level": "read_committed",
        }  # fmt: skip
        assert found[PRODUCER].library == SPRING

    def test_one_setting_in_every_spelling(self):
        """Relaxed binding: dots, kebab, camel, environment."""
        for name in ("spring.kafka.consumer.enable-auto-commit", "spring.kafka.consumer.enableAutoCommit",
                     "SPRING_KAFKA_CONSUMER_ENABLE_AUTO_COMMIT", "spring.kafka.consumer.enable_auto_commit"):  # fmt: skip
            assert values(f"{name}=false\n", kind=CONSUMER) == {"enable.auto.commit": "false"}

    def test_what_is_somebody_elses(self):
        """Neither another library's retries, nor an admin client's, nor words that only end alike."""
        text = "http.client.retries=1\nspring.kafka.admin.retries=2\nfallbacks=3\nspring.kafka.producer.acks=1\n"
        assert values(text) == {"acks": "1"}

    def test_a_bare_file_may_be_either(self):
        """Only the name of the file tells, or nothing does."""
        assert set(read("bootstrap.servers=a:1\n")) == {PRODUCER, CONSUMER}
        assert set(read("bootstrap.servers=a:1\n", "my-consumer.properties")) == {CONSUMER}


class TestNotTold:
    def test_the_last_of_two_counts_and_is_said(self):
        """As java.util.Properties does; both lines are named."""
        found = read("acks=0\nretries=1\nacks=all\n")[PRODUCER]
        assert found.given["acks"][:3] == ("all", "acks", 3)
        assert found.problems == ("acks is set twice, in lines 1 and 3: the last counts",)
        assert found.whole

    def test_escapes(self):
        """A value over two lines and a letter by its number are read, a broken escape stays text."""
        assert values("linger.ms=\\\n   \\u0035\nretries=1\nx=\\uZZ\n") == {"linger.ms": "5", "retries": "1"}

    def test_variables_are_unknown(self):
        """Whatever stands behind the colon: the environment decides."""
        for text in ("${ACKS}", "${ACKS:all}", "#{env.acks}", "{{ acks }}", "$(acks)", "@acks@", "$ACKS"):
            found = read(f"acks={text}\nretries=1\n")[PRODUCER]
            assert found.given["acks"].value is None
            assert "variable" in found.given["acks"].why

    def test_a_tag_of_ones_own_is_a_variable(self):
        """``!vault`` and ``!Ref`` stand for what somebody else puts in."""
        assert values("producer: {acks: !Ref Acks, retries: 1}", "a.yml") == {"acks": None, "retries": "1"}

    def test_wrong_types(self):
        """Lists, mappings, words for numbers, numbers for words."""
        text = "producer: {acks: [1], retries: many, linger.ms: {a: 1}, enable.idempotence: 3, delivery.timeout.ms: 1e3}"
        assert set(values(text, "a.yml").values()) == {None}

    def test_includes_make_the_rest_unknown(self):
        """What is not set may be set there."""
        for text in (
            "include=b.properties\nacks=1\n",
            "spring.config.import=optional:file:b.yml\nspring.kafka.producer.acks=1\n",
        ):
            found = read(text)[PRODUCER]
            assert not found.whole
            assert any("another file" in problem for problem in found.problems)

    def test_profiles(self):
        """A setting of one profile counts only in it."""
        text = "spring.kafka.producer.acks: 1\n---\nspring.config.activate.on-profile: prod\nspring.kafka.producer.acks: all\n"
        assert values(text, "application.yml") == {"acks": None}

    def test_two_channels_that_differ(self):
        """Neither of two outgoing channels speaks for the application."""
        text = "mp.messaging.outgoing.a.acks=1\nmp.messaging.outgoing.b.acks=all\nmp.messaging.outgoing.b.retries=3\n"
        assert values(text) == {"acks": None, "retries": "3"}


class TestHostile:
    def test_an_aliases_bomb(self):
        """A kilobyte that stands for 10^15 leaves is read, and said not to be whole."""
        lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 16)]
        with ends():
            found = read("\n".join(["producer: {acks: 1}", *lines]), "bomb.yml")[PRODUCER]
        assert found.given["acks"].value == "1"
        assert not found.whole

    def test_what_is_no_yaml(self):
        """Depth, a tree that holds itself, a torn document, tags that other loaders would run."""
        for text in ("[" * 5000, "a: &a\n  b: *a\n", "a: [1,\n", "{a: b: c}", "\t- x", "%YAML 9.9\n--- a", "a: *nobody"):
            assert not any(found.whole for found in read(text, "x.yml").values())
        for text in (r'a: "\UFFFFFFFF"', r'a: "\U00110000"'):
            problems = {problem for found in read(f"acks: 1\n--- \n{text}", "x.yml").values() for problem in found.problems}
            assert problems == {"is not YAML"}
        assert set(read("!!python/object/apply:os.system ['exit 1']", "x.yml")) == {PRODUCER, CONSUMER}

    def test_a_file_that_is_too_long(self):
        """Only its beginning is read."""
        found = read("acks=1\n" + "#\n" * LONGEST)[PRODUCER]
        assert found.given["acks"].value == "1"
        assert not found.whole

    @given(st.text(max_size=300), st.sampled_from(["a.properties", "a.yml", "a.json", "a"]))
    def test_any_text_is_read(self, text, file):
        """Nothing raises, and a problem never quotes more than a name or a short value."""
        for found in parse(text, client="c", file=f"clients/c/config/{file}"):
            assert all(len(problem) < 300 for problem in found.problems)

    @given(st.lists(st.tuples(KEYS, VALUES), max_size=8))
    def test_properties_as_java_reads_them(self, pairs):
        """Against javaproperties: of each key the last value, if it is one that a client takes."""
        text = "".join(f"{javaproperties.join_key_value(key, value)}\n" for key, value in pairs)
        last = javaproperties.loads(text)
        for found in parse(text, client="c", file="clients/c/config/a.properties"):
            for key, given_ in found.given.items():
                assert given_.value in (None, "set") or given_.value == last[key]

    @given(st.dictionaries(KEYS, VALUES, max_size=6))
    def test_yaml_says_the_same_as_properties(self, settings):
        """The same settings in both formats, strings quoted: the same is known."""
        flat = "".join(f"{javaproperties.join_key_value(key, value)}\n" for key, value in settings.items())
        tree = yaml.safe_dump(dict(settings), default_style='"', allow_unicode=True)
        both = [{f.kind: {k: g.value for k, g in f.given.items()} for f in parse(text, client="c", file=f"c/{file}")}
                for text, file in ((flat, "a.properties"), (tree, "a.yml"))]  # fmt: skip
        assert both[0] == both[1]
