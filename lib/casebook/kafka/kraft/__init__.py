"""Rules of KRaft's controllers."""
