"""Configuration of clients in a case: what was given, without any secret, and why something was not copied."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from casebook.case.case import Case
from casebook.collect.collection import collect_case
from casebook.collect.redaction.client_settings import kept
from casebook.facts.clients import PRODUCER
from casebook.formats.clients import client_properties
from tests.ends import growth

SECRET = "hunter2"
PROPERTIES = f"""\
# password={SECRET}
acks=all
db_pw={SECRET}
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="a" password="{SECRET}";
ssl.keystore.password=${{db_pw}}
ssl.key.p\\u0061ssword={SECRET}
schema.registry.url=http://user:{SECRET}@host/
retries=3
"""
YAML = f"""\
x: &p {SECRET}
pw: {SECRET}
spring:
  kafka:
    ssl:
      key: {{password: *p}}
      key-store-password: ${{pw}}
    jaas:
      options: {{user: a, word: {SECRET}}}
      config: |
        required
        word="{SECRET}"
    producer: {{acks: 1, password: '{SECRET}', retries: 3}}  # password={SECRET}
    url: http://user:{SECRET}@host/
    keystore.key: |
      -----BEGIN PRIVATE KEY-----
      {SECRET}
"""


class TestCase:
    def test_what_is_given_can_be_read_back(self, tmp_path):
        """By the client's name; a folder with all its files; a file of an equal name under its folder's."""
        for place, text in (("a/app.properties", "acks=1\n"), ("b/app.properties", "acks=all\n")):
            (tmp_path / place).parent.mkdir(exist_ok=True)
            (tmp_path / place).write_text(text)
        paths = [tmp_path / "a", tmp_path / "b" / "app.properties"]
        case = Case.open(collect_case(tmp_path / "case", clients={"billing": paths}))
        found = {(f.client, f.file, f.kind): f.given["acks"].value for f in case.client_files()}
        assert found == {
            ("billing", "clients/billing/config/app.properties", PRODUCER): "1",
            ("billing", "clients/billing/config/b-app.properties", PRODUCER): "all",
        }

    def test_what_cannot_be_copied_is_told(self, tmp_path):
        """A file that is not there, one that is too large, YAML that nobody can read."""
        (tmp_path / "large.properties").write_text("a=b\n" * 100_000)
        (tmp_path / "torn.yml").write_text(f"a: [{SECRET}\npassword: {SECRET}")
        (tmp_path / "good.properties").write_text("acks=1\n")
        paths = [tmp_path / name for name in ("gone.properties", "large.properties", "torn.yml", "good.properties")]
        case = Case.open(collect_case(tmp_path / "case", clients={"c": paths}))
        assert {problem.path.rpartition("/")[2] for problem in case.could_not_collect} == {
            "gone.properties", "large.properties", "torn.yml",
        }  # fmt: skip
        assert [found.file for found in case.client_files()] == ["clients/c/config/good.properties"]

    def test_no_secret_reaches_the_case(self, tmp_path):
        """Neither its files nor its manifest, and the manifest says that some were removed."""
        (tmp_path / "a.properties").write_text(PROPERTIES)
        (tmp_path / "a.yml").write_text(YAML)
        paths = [tmp_path / "a.properties", tmp_path / "a.yml"]
        folder = collect_case(tmp_path / "case", clients={"c": paths})
        assert not [path for path in folder.rglob("*") if path.is_file() and SECRET in path.read_text()]
        assert len(Case.open(folder).redacted) == 2
        assert [found.given["retries"].value for found in Case.open(folder).client_files() if found.given] == ["3", "3"]


def stays(text, *, is_yaml):
    return kept(text, is_yaml=is_yaml).text


def read(text, *, is_yaml):
    """What a reader takes of a file; a value that nobody understands is one, however it is written."""
    found = client_properties.parse(text, client="c", file="c.yml" if is_yaml else "c.properties")
    return [
        (
            one.kind,
            one.library,
            one.whole,
            {key: (g.value, g.line, g.why.partition(" takes ")[0]) for key, g in one.given.items()},
        )
        for one in found
    ]


class TestKept:
    def test_yaml_stays_yaml_with_its_lines(self):
        """What is read keeps its value and its line; nothing else stays."""
        clean = stays(YAML, is_yaml=True)
        assert clean.count("\n") == YAML.count("\n")
        assert yaml.safe_load(clean)["spring"]["kafka"]["producer"]["acks"] == 1
        assert SECRET not in clean
        assert read(clean, is_yaml=True) == read(YAML, is_yaml=True)

    def test_properties_keep_what_is_read(self):
        """Also the variable that a secret comes from goes."""
        clean = stays(PROPERTIES, is_yaml=False)
        assert SECRET not in clean
        assert "db_pw" not in clean
        assert read(clean, is_yaml=False) == read(PROPERTIES, is_yaml=False)

    @given(
        st.recursive(
            st.sampled_from(["all", SECRET, "1", "", "${X}", "true"]),
            lambda inner: (
                st.dictionaries(
                    st.sampled_from(["acks", "retries", "ssl.key.password", "producer", "consumer", "spring", "kafka", "a", "group-id", SECRET]),
                    inner, max_size=3,
                )
                | st.lists(inner, max_size=3)
            ),
            max_leaves=12,
        ),
        st.sampled_from([None, '"', "'", "|", ">"]),
        st.booleans(),
    )  # fmt: skip
    def test_any_tree(self, tree, style, flow):
        """In every style of YAML, at any depth: a reader takes the same of it, and no secret stays as a name or a value."""
        text = yaml.safe_dump({"root": tree, "producer": tree}, default_style=style, default_flow_style=flow, width=10_000)
        clean = stays(text, is_yaml=True)
        assert read(clean, is_yaml=True) == read(text, is_yaml=True)
        on_its_way = [line for line in clean.splitlines() if SECRET in line]
        assert not any(line.split(":", 1)[1:] and SECRET in line.split(":", 1)[1] and not flow for line in on_its_way)

    @given(st.text(max_size=200))
    def test_any_text(self, text):
        """Properties never raise; YAML raises ValueError alone. Every line keeps its number."""
        assert stays(text, is_yaml=False).count("\n") == text.count("\n")
        try:
            stays(text, is_yaml=True)
        except ValueError as error:
            assert "YAML" in str(error) or "nested" in str(error)


PEM_KEY = f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{SECRET}\n{SECRET}\n-----END RSA PRIVATE KEY-----\n"
HARMLESS = """\
bootstrap.servers=kafka-1.example.com:9092,kafka-2.example.com:9092
acks=all
retries=2147483647
enable.idempotence=true
linger.ms=5
auto.offset.reset=earliest
max.in.flight.requests.per.connection=5
partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor
ssl.keystore.location=/etc/kafka/keystore.jks
key.serializer=org.apache.kafka.common.serialization.StringSerializer
sasl.kerberos.service.name=kafka
app.spinning=1
app.compass=north
app.bypass=true
app.pass-through=true
app.shopping.cart=a,b
isolation.level=read_committed
ssl.endpoint.identification.algorithm=https
schema.registry.url=https://registry.example.com:8081
java.options=-Xmx1g -Dlinger.ms=5 --acks all
path=C:\\\\kafka\\
   more
# at the end of all records
! a note
; acks=1
"""
SECRETS = [
    f"sasl.pass={SECRET}\n",
    f"kafka.pw={SECRET}\n",
    f"kafkaPw: {SECRET}\n",
    f"KAFKA_PASS={SECRET}\n",
    f"KAFKAPASS={SECRET}\n",
    f"db.PIN = {SECRET}\n",
    f"passcode={SECRET}\n",
    f"kennwort={SECRET}\n",
    f"passwort {SECRET}\n",
    f"my.pa\\\n  ss={SECRET}\n",
    f"my.p\\u0061ss={SECRET}\n",
    f"export KAFKA_PW={SECRET}\n",
    f"# Passwort: {SECRET}\n",
    f"# password {SECRET}\n",
    f"#password:\n#   {SECRET}\n",
    f"; the password is:\n; {SECRET}\n",
    f"# {SECRET} is the password\n",
    f"#sasl.jaas.config=x \\\n#   word='{SECRET}'\n",
    f"# - name: KAFKA_PASSWORD\n#   value: {SECRET}\n",
    f"acks=all # pw {SECRET}\n",
    f"command=app --sasl-password {SECRET}\n",
    f'KAFKA_OPTS="-Dpw={SECRET} -Dacks=1"\n',
    f"check=curl -u me:{SECRET} http://host\n",
    f"# Passwort:\n#\n# {SECRET}\n",
    f"command=app -storepass '{SECRET}'\n",
    f"opts=-Dkafka.pass={SECRET}\n",
    f"url=https://{SECRET}@host/\n",
    f"db=jdbc:oracle:thin:scott/{SECRET}@host:1521\n",
    f"sasl.password=${{a}}\na=${{b}}\nb={SECRET}\n",
    f"sasl.password=${{kafkaLogin}}\nkafka-login: {SECRET}\n",
    f"sasl.password=${{KAFKA_LOGIN:x}}\nkafka.login {SECRET}\n",
    f"sasl.password=${{logins[0]}}\nlogins[0]={SECRET}\n",
    f"sasl.password=${{my.p}}\nmy.p {SECRET}\n",
    f"sasl.password=${{my.p}}\nmy.p=ab\\\n  {SECRET}\n",
    f"sasl.password=%(login)s\nlogin={SECRET}\n",
    f"sasl.password=${{env:LOGIN}}\nexport LOGIN={SECRET}\n",
    f"sasl.password=${{a.b}}\na {{\n  b = {SECRET}\n}}\n",
    f"sasl.password=${{b}}\n# b={SECRET}\n",
    f"note=a\x0cb\x85c\u2028d\nsasl.password=${{b}}\nb={SECRET}\n",
    f"sasl.password=\\\r {SECRET}\n",
    f"note=a\x0cb\x85c\rsasl.password={SECRET}\r\n",
    f'password = """\n{SECRET}\n"""\n',
    f'password =\n  "{SECRET}"\n',
    f'password =\n"{SECRET}"\n',
    f'passwords = [\n"{SECRET}"\n]\n',
    f"credentials {{\n  user = a\n  word = {SECRET}\n}}\n",
    f"[secrets]\nword = {SECRET}\n[kafka]\n",
    f"password = a\n   {SECRET}\n",
    f'KAFKA_PASSWORD="a\n{SECRET}"\n',
    PEM_KEY,
    PEM_KEY.replace("\n", "\n# ").join(("# ", "\n")),
    "key = " + PEM_KEY.replace("\n", "\\n\\\n") + "\n",
]
YAML_SECRETS = [
    f"env:\n- name: KAFKA_PASSWORD\n  value: {SECRET}\n- {{name: ACKS, value: '1'}}\n",
    f"env:\n- value: {SECRET}\n  name: KAFKA_PW\n",
    f"parameters:\n- key: KAFKA_PASS\n  value: {{a: {SECRET}}}\n",
    f"kind: Secret\nstringData:\n  a: {SECRET}\n  b: |\n    x={SECRET}\n",
    f"apiVersion: v1\ndata: {{a: {SECRET}}}\nkind: Secret\n",
    f'args: ["--password", "{SECRET}", "--acks", "1"]\n',
    f"command: app --sasl-password {SECRET}\n",
    f"environment:\n- KAFKA_PASS={SECRET}\n",
    f"sasl: {{pw: {SECRET}}}\n",
    f"a: https://{SECRET}@host/\n",
    f"a: jdbc:oracle:thin:scott/{SECRET}@host\n",
    f"https://{SECRET}@host/: a\n",
    f"a: 1 # password {SECRET}\n",
    f"a: 'it''s # pass {SECRET}'\n",
    f"password: # {SECRET}\n  x\n",
    f"# password:\n# {SECRET}\na: 1\n",
    f"a: | # Passwort {SECRET}\n  x\n",
    "# " + PEM_KEY.replace("\n", "\n# ") + "\na: 1\n",
    f"data:\n  app.properties: |\n    acks=all\n    kafka.pw {SECRET}\n",
    f"password: ${{a}}\na: ${{b.c}}\nb: {{c: {SECRET}}}\n",
    f"password: ${{logins[0].word}}\nlogins:\n- word: {SECRET}\n",
    f"password: ${{kafkaLogin}}\nkafka-login: {SECRET}\n",
    f"password: ${{KAFKA_X}}\nspec: {{env: [{{name: KAFKA_X, value: {SECRET}}}]}}\n",
    f"password: ${{KAFKA_X}}\nservices: {{app: {{environment: {{KAFKA_X: {SECRET}}}}}}}\n",
    f"password: ${{other.x}}\nbase: &b {{x: {SECRET}}}\nother: *b\n",
    f"password: '{{{{ .Values.kafka.x }}}}'\nkafka: {{x: {SECRET}}}\n",
]


def collected(folder, files):
    """Texts of the copied files by name, and the names of those that were not copied, of one client."""
    (folder / "given").mkdir()
    for name, content in files.items():
        (folder / "given" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    made = collect_case(folder / "case", clients={"c": [folder / "given"]})
    copied = {path.name: path.read_text() for path in made.rglob("config/*")}
    return copied, {problem.path.rpartition("/")[2] for problem in Case.open(made).could_not_collect}


class TestSpellings:
    @pytest.mark.parametrize("text", [text for text in SECRETS if "\r" not in text])
    def test_of_secrets_line_by_line(self, text):
        """Names, comments, arguments, URLs, variables, continuations, blocks, keys: what follows stays, in its line."""
        clean = stays(f"retries=3\n{text}acks=1\n", is_yaml=False)
        assert SECRET not in clean
        assert clean.startswith("retries=3\n")
        assert clean.endswith("acks=1\n")
        assert clean.count("\n") == text.count("\n") + 2

    @pytest.mark.parametrize("text", YAML_SECRETS)
    def test_of_secrets_in_yaml(self, text):
        """Pairs, Kubernetes' secrets, arguments, URLs, comments, files within, variables: it stays YAML, and the rest readable."""
        clean = stays(f"retries: 3\n{text}\nacks: 1\n", is_yaml=True)
        assert SECRET not in clean
        found = yaml.safe_load(clean)
        assert (found["retries"], found["acks"]) == (3, 1)

    @pytest.mark.parametrize("is_yaml", [False, True])
    def test_a_reader_takes_the_same(self, is_yaml):
        """Of a file without any secret as of one with many: its settings with their lines, its library, its kinds."""
        text = HARMLESS.replace("\\\\kafka\\\n   more\n", "\n")
        if is_yaml:
            text = yaml.safe_dump(dict(line.split("=", 1) for line in HARMLESS.splitlines()[:19]))
        assert read(stays(text, is_yaml=is_yaml), is_yaml=is_yaml) == read(text, is_yaml=is_yaml)

    @pytest.mark.parametrize("piece", ["a=\\\n", "a {\n", "pw=\n\n", "pw='\n", "pw=x\n pw=x\n", "# a b\n"])
    def test_a_large_file_costs_what_its_length_does(self, piece):
        """However its settings are continued, nested, or left open: four times as much takes about four times as long."""
        assert growth(lambda length: stays(piece * (length // len(piece)), is_yaml=False), few=50_000, many=200_000) < 2.5 * 4

    def test_yaml_that_repeats_itself(self):
        """Nobody can go through all of it, so it is not copied."""
        lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
        with pytest.raises(ValueError, match="YAML"):
            stays("\n".join(lines), is_yaml=True)


class TestFiles:
    def test_only_settings_are_copied(self, tmp_path):
        """By their endings; what has none must read as settings; keys, binaries and XML are told, and stay where they are."""
        good = dict.fromkeys(("a.properties", "a.conf", "a.CFG", "a.ini", "a.env", ".env", ".env.local", "settings"), "acks=1\n")
        good |= {f"wide-{name}.properties": "acks=1\n".encode(name) for name in ("utf-16", "utf-16-le", "utf-8-sig")}
        good |= {"a.yml": "acks: 1\n", "a.yaml": "acks: 1\n", "a.json": '{"acks": 1}'}
        bad = dict.fromkeys(("id_rsa", "client.pem", "client.key", "keystore.jks", "notes.txt", ".netrc", "token"), SECRET)
        bad |= {"password": f"a={SECRET}", "key": PEM_KEY, "base64": "aHVudGVyMg==",
                "x.conf": f'<?xml version="1.0"?><a password="{SECRET}"/>', "nul.ini": f"\0password={SECRET}",
                "bad.yml": f'a: "\\UFFFFFFFF"\npassword: {SECRET}', "bad2.yml": f'a: "\\U00110000"\npassword: {SECRET}'}  # fmt: skip
        copied, told = collected(tmp_path, good | bad)
        assert set(copied) == set(good)
        assert told == set(bad)
        assert not [path for path in (tmp_path / "case").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]

    def test_every_file_has_its_own_name(self, tmp_path):
        """However many are called alike, in folders that are called alike; each keeps its ending and its content."""
        paths = []
        for folder in "abcd":
            paths.append(tmp_path / folder / "config" / "application.yml")
            paths[-1].parent.mkdir(parents=True)
            paths[-1].write_text(f"acks: 1\nretries: {ord(folder)}\n")
        made = collect_case(tmp_path / "case", clients={"c": paths})
        found = sorted(made.rglob("config/*"))
        assert sorted(yaml.safe_load(path.read_text())["retries"] for path in found) == [97, 98, 99, 100]
        assert {path.suffix for path in found} == {".yml"}
        items = [item["path"] for item in json.loads((made / "case.json").read_text())["items"]]
        assert len(items) == len(set(items)) == 4


def test_the_command(tmp_path):
    """``--client NAME=GLOB``."""
    from click.testing import CliRunner

    from casebook.cli import cli

    (tmp_path / "producer.properties").write_text("acks=1\n")
    done = CliRunner().invoke(cli, ["collect", "--client", f"billing={tmp_path}/*.properties", "--out", str(tmp_path / "case")])
    assert done.exit_code == 0, done.output
    assert [found.client for found in Case.open(tmp_path / "case").client_files()] == ["billing"]


@pytest.mark.parametrize("name", ["../x", "a/b", ""])
def test_a_name_stays_in_the_case(tmp_path, name):
    """No name of a client leads out of the case's folder."""
    from click.testing import CliRunner

    from casebook.cli import cli

    done = CliRunner().invoke(cli, ["collect", "--client", f"{name}=x", "--out", str(tmp_path / "case")])
    assert done.exit_code != 0
