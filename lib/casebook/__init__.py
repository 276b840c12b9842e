"""kafka-casebook: explains Kafka incidents from evidence alone, with a proof for every number.

Data flow: evidence -> collect -> case -> facts -> analysis -> findings and tables -> views -> notebook -> report.
"""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Import ``__version__`` lazily: its lookup takes longer to import than most of the package."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("kafka-casebook")
