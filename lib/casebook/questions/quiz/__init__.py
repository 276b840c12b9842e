"""The walkthrough of an incident, with questions judged from its evidence."""
