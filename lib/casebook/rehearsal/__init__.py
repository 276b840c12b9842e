"""Real servers on loopback that play an incident, the source of samples and tests."""

from casebook.rehearsal.incidents import INCIDENTS, Incident, list_incidents, play
from casebook.rehearsal.practice import practise
from casebook.rehearsal.servers.cluster import PlayedCluster
from casebook.rehearsal.servers.kraft import KraftCluster

__all__ = ["INCIDENTS", "Incident", "KraftCluster", "PlayedCluster", "list_incidents", "play", "practise"]
