"""A newer client's first request costs others their answers on a real 0.9 broker, and the broker's log hardly says who it was."""

import json
import re

import pytest

from casebook.rehearsal.plays import api_versions_storm as script
from tests.rehearsal import plays


@pytest.fixture(scope="module")
def out():
    """The play."""
    return plays.played("api-versions-storm", "0.9.0.1")


@pytest.fixture(scope="module")
def facts(out):
    """What the script wrote down."""
    return json.loads((out / "truth.json").read_text())["facts"]["api_versions_storm"]


def log(out, phase, name="server.log"):
    return plays.logged(out / phase, script.ASKED, name)


class TestStorm:
    @pytest.mark.parametrize("phase", ["during", "after"])
    def test_others_were_not_answered(self, facts, phase):
        """Those whose requests were read in the same turn; most were answered."""
        rounds = facts[phase]
        assert any(one["lost"] for one in rounds)
        assert any(one["answered"] for one in rounds)
        assert {lost["client"] for one in rounds for lost in one["lost"]} <= {*script.BYSTANDERS, *script.VISITORS}

    def test_the_exception(self, out, facts):
        """One for each turn in which a network thread met the request; two requests may have met in one."""
        raised = log(out, "during").count("Processor got uncaught exception")
        alone, together = len(facts["alone"]["during"]), len(facts["during"])
        assert together + alone <= raised <= script.INSTANCES * together + alone
        assert re.search(r"ArrayIndexOutOfBoundsException: (Index )?18\b", log(out, "during"))


class TestWhatTheBrokerSays:
    def test_nobody_is_named_by_default(self, facts):
        """Neither address nor client id stand anywhere."""
        assert facts["culprit_named_in"]["during"] == {"address": [], "client_id": []}

    def test_connections_are_named_at_debug(self, out, facts):
        """Each of the culprit's, with its thread; its client id still nowhere, as its request was never parsed."""
        assert any(name.startswith("server.log") for name in facts["culprit_named_in"]["after"]["address"])
        assert facts["culprit_named_in"]["after"]["client_id"] == []
        connections = [connection for one in facts["after"] for connection in one["culprit_connections"]]
        for connection in (*connections, *facts["alone"]["after"]):
            assert re.search(rf"Processor [01] listening to new connection from /{connection['from']} ", log(out, "after"))

    def test_request_logging_tells_the_innocent(self, out, facts):
        """By elimination: of every connection that was ever answered there is a line, of the culprit's none."""
        requests = log(out, "after", "kafka-request.log")
        assert script.CULPRIT_ADDRESS not in requests
        for source in script.BYSTANDERS.values():
            assert f"-{source}:" in requests
