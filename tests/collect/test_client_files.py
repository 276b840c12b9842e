"""Configuration of clients in a case: what was given, without any secret, and why something was not copied."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from casebook.case import Case
from casebook.clients import PRODUCER
from casebook.collect import collect_case
from casebook.collect.client_files import without_secrets

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


class TestWithoutSecrets:
    def test_yaml_stays_yaml_with_its_lines(self):
        """What is no secret keeps its value and its line."""
        clean = without_secrets(YAML, is_yaml=True)
        assert clean.count("\n") == YAML.count("\n")
        assert yaml.safe_load(clean)["spring"]["kafka"]["producer"]["acks"] == 1
        assert SECRET not in clean

    def test_properties_keep_what_is_no_secret(self):
        """Also the variable that a secret comes from goes."""
        clean = without_secrets(PROPERTIES, is_yaml=False)
        assert SECRET not in clean
        assert "acks=all\n" in clean
        assert "retries=3\n" in clean

    @given(
        st.recursive(
            st.sampled_from(["acks", SECRET, "1", ""]),
            lambda inner: (
                st.dictionaries(st.sampled_from(["acks", "ssl.key.password", "jaas", "a"]), inner, max_size=3)
                | st.lists(inner, max_size=3)
            ),
            max_leaves=12,
        ),
        st.sampled_from([None, '"', "'", "|", ">"]),
        st.booleans(),
    )
    def test_whatever_stands_below_a_secret_name_goes(self, tree, style, flow):
        """In every style of YAML, at any depth; what is left is what a reader would see without it."""

        def kept(node: object, secret: bool = False) -> object:
            if isinstance(node, dict):
                return {key: kept(value, secret or key in ("ssl.key.password", "jaas")) for key, value in node.items()}
            if isinstance(node, list):
                return [kept(value, secret) for value in node]
            return "[redacted]" if secret else node

        text = yaml.safe_dump({"root": tree}, default_style=style, default_flow_style=flow)
        assert yaml.safe_load(without_secrets(text, is_yaml=True)) == {"root": kept(tree)}

    @given(st.text(max_size=200))
    def test_any_text(self, text):
        """Properties never raise; YAML raises ValueError alone."""
        without_secrets(text, is_yaml=False)
        try:
            without_secrets(text, is_yaml=True)
        except ValueError as error:
            assert "YAML" in str(error) or "nested" in str(error)


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
