"""kafka-casebook: explains Kafka incidents from evidence alone, with the proof beside every number.

The way of the data: evidence -> collect -> case -> facts -> analysis -> findings and tables -> views -> notebook -> report.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """``__version__`` once it is asked for: what finds it takes longer to import than most that is imported from here."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("kafka-casebook")
