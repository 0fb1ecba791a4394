"""Which extra brings which library, and the sentence for one that is not there."""

from __future__ import annotations

# the library that an import asks for -> what to install
BROUGHT_BY = {
    "scipy": "lab",
    "matplotlib": "lab",
    "sqlalchemy": "lab",
    "h11": "lab",
    "rich": "lab",
    "xllamacpp": "local",
    "psycopg": "postgres",
    "polars": "frames",
}


def lacking(error: ModuleNotFoundError, purpose: str = "this") -> str | None:
    """What to install, if an optional library is what could not be imported."""
    root = (error.name or "").partition(".")[0]
    if root not in BROUGHT_BY:
        return None
    return f'{purpose} needs {root}, which is not installed: pip install "paccf[{BROUGHT_BY[root]}]"'
