"""Ids of candidates and paths of nodes, as somebody's own search gives them, and as a log can give them back."""

from __future__ import annotations

from collections.abc import Sequence

Path = tuple[str, ...]  # the ids from the root
_ESCAPED = str.maketrans({"~": "~0", "/": "~1", "#": "~2"})
POOL = "*"  # begins the id of a frontier with candidates of several parents; the others begin with a slash


def joined(path: Path) -> str:
    """A path as one text, that no other path has."""
    return "/".join(step.translate(_ESCAPED) for step in path)


def whole_path(candidate: object) -> Path:
    """A candidate that is given by its whole path."""
    if isinstance(candidate, str) or not isinstance(candidate, Sequence) or not candidate:
        raise ValueError(
            "without a path the candidates come from several parents, so each is given by the ids from the root to "
            f"it; not {candidate!r:.80}"
        )
    return tuple(map(id_of, candidate))


def path_of(name: str, ids: Sequence[object]) -> Path:
    """Ids in order. One text would be taken for its letters, so it is refused."""
    if isinstance(ids, str):
        raise ValueError(f"{name} is a list of ids, not a text; write [{ids!r:.80}], or [] for the root")
    return tuple(map(id_of, ids))


def id_of(text: object) -> str:
    """An id that can be read back: a text that is not empty, and UTF-8."""
    if not isinstance(text, str) or not text:
        remedy = "" if isinstance(text, str) else f": write str({text!r:.80})"
        raise ValueError(
            f"ids are texts that are not empty, the same for the same thing every time; not {text!r:.80}{remedy}"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the id {text!r:.80} is not UTF-8") from None
    return text
