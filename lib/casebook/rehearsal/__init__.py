"""Real servers on loopback that play an incident; samples and tests come from it."""

from casebook.rehearsal.cluster import Cluster
from casebook.rehearsal.incidents import INCIDENTS, Incident, list_incidents, play
from casebook.rehearsal.practice import practise

__all__ = ["INCIDENTS", "Cluster", "Incident", "list_incidents", "play", "practise"]
