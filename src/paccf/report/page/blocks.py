"""What a report page is made of, as plain values: they travel to the browser as one JSON document.

The page's script knows one way to draw each kind, and puts every text in as text. In texts, `backticks` set a command.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Tone = Literal["plain", "good", "warn"]


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    """A paragraph."""

    text: str
    tone: Tone = "plain"


class Bullets(msgspec.Struct, frozen=True, tag="bullets", tag_field="kind"):
    """A list; the first part of an item stands out."""

    items: tuple[tuple[str, str], ...]


class TableBlock(msgspec.Struct, frozen=True, tag="table", tag_field="kind"):
    """A table as shown (``rows`` are texts), where it comes from, and its full figures for downloading."""

    name: str
    title: str
    shown: bool  # open from the start
    heads: tuple[str, ...]
    words: tuple[bool, ...]  # which columns are words
    rows: tuple[tuple[str, ...], ...]
    breaks: tuple[int, ...]
    notes: tuple[str, ...]
    query: str
    counts: tuple[tuple[str, int], ...]
    csv: str
    json: Any


class Picture(msgspec.Struct, frozen=True, tag="picture", tag_field="kind"):
    """A figure as SVG for light and dark pages, and the tables its data is in."""

    name: str
    title: str
    caption: str
    svg: str
    tables: tuple[str, ...]
    query: str
    counts: tuple[tuple[str, int], ...]


class Step(msgspec.Struct, frozen=True):
    """One budget of a `Ladder`: the figure with its interval, its denominators, and the all-pairs figure beside it."""

    budget: int
    value: float | None
    lo: float | None
    hi: float | None
    of: int
    pairs: int
    every: float | None


class Ladder(msgspec.Struct, frozen=True, tag="ladder", tag_field="kind"):
    """One quantity by budget; the last step is the figure."""

    title: str
    unit: str
    better: str  # what a figure above zero means
    steps: tuple[Step, ...]
    table: str


class Verdict(msgspec.Struct, frozen=True, tag="verdict", tag_field="kind"):
    """One thing a reader wants to know before anything else."""

    title: str
    figure: str
    text: str
    tone: Tone
    table: str


class Cases(msgspec.Struct, frozen=True, tag="cases", tag_field="kind"):
    """Single tasks with both arms' trees."""

    cases: tuple[Case, ...]


class Arm(msgspec.Struct, frozen=True):
    """One arm of a case: how it ended, its bill, and its answer as places in the tree."""

    end: str
    facts: tuple[tuple[str, str], ...]
    solution: str
    answer: tuple[int, ...]
    # by place in the tree: state, score, deficit and visits; see `cases.STATES`
    states: tuple[int, ...]
    scores: tuple[float | None, ...]
    deficits: tuple[float | None, ...]
    visits: tuple[int | None, ...]
    solved: tuple[int, ...]


class Case(msgspec.Struct, frozen=True):
    """One task under one controller at one budget. The joined tree in columns, parents first; -1 is the root's."""

    what: str
    short: str
    title: str
    margin: str
    removed: str
    command: str
    parents: tuple[int, ...]
    texts: tuple[str, ...]
    labels: tuple[bool | None, ...]
    native: Arm
    paccf: Arm


Block = Text | Bullets | TableBlock | Picture | Ladder | Verdict | Cases


class Section(msgspec.Struct, frozen=True):
    id: str
    title: str
    blocks: tuple[Block, ...]


class Page(msgspec.Struct, frozen=True):
    """Everything a report says. ``warnings`` stand above all else."""

    name: str
    simulated: str  # empty, or the sentence that says so
    facts: tuple[tuple[str, str], ...]
    answer: str
    detail: str
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
