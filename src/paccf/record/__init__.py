"""What a search leaves behind, in files that outlive it.

``from paccf.record import Store, to_numpy, to_polars`` reads a record: typed searches one at a time, and flat tables.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from paccf.record.flat import TABLES, to_numpy, to_polars
    from paccf.record.frontier_log import read_frontiers
    from paccf.record.store import Store

__all__ = ["TABLES", "Store", "read_frontiers", "to_numpy", "to_polars"]

_LATER = {
    "TABLES": "paccf.record.flat",
    "Store": "paccf.record.store",
    "read_frontiers": "paccf.record.frontier_log",
    "to_numpy": "paccf.record.flat",
    "to_polars": "paccf.record.flat",
}


def __getattr__(name: str) -> object:
    """What is imported when it is asked for: a frontier log needs no database."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
