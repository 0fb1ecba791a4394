"""Writes docs/tables.md from the registries of tables and figures: `python -m docs.tables_page`.

What a table is counted from stands in the table itself, so each is made once, of the small record of the tests.
"""

from __future__ import annotations

from pathlib import Path

from tests.audit.conftest import record

from paccf import published
from paccf.audit import tables
from paccf.audit.audit import Audit, Need
from paccf.audit.run import Unsupported
from paccf.audit.tables import TABLES, Table
from paccf.report.figures import FIGURES

PAGE = Path(__file__).with_name("tables.md")

NEEDS: dict[Need, str] = {
    "nothing": "nothing",
    "cells": "searches of both arms",
    "pairs": "searches of both arms, task by task (not the paper's printed rows)",
    "trees": "searches of both arms with their trees (not a frontier log)",
    "certificates": "certificates",
    "coverage": "certificates, and labelled Native traces of test tasks",
    "traces": "labelled Native traces",
}

HEAD = """# Every table and where it comes from

```sh
paccf run smoke -o demo-run                     # a small simulated run, in seconds
paccf table demo-run --list                     # what this record carries, and why it does not carry the rest
paccf table demo-run macro_main                 # text; also --format md, tex, csv, json
paccf table paper macro_main --beside-paper     # the printed figures beside recomputed ones
paccf figure demo-run --all -o figures
```

A table has one name everywhere: here, in `paccf table`, in `paccf audit --json`, in the report, as the label of its
LaTeX. Each is counted from the record of a run, with no model call, and carries its query, how many records it was
counted over, and what has to be said of the run. Names that the paper's tables have too are marked; `--beside-paper`
then prints the published figure in a column of its own. A record that cannot carry a table says what it lacks.

**Cohorts.** A *pair* is one task under one controller at one budget, in both arms. A task is paired if both arms of
every controller have it at every budget, none failed for technical reasons, and nothing excluded it. Utility is over
all pairs. Workload is over the pairs that no hard budget ended, `N_eff` of them; because that depends on what pruning
did, the figure over all pairs stands beside it, marked *(all)*.

**The five views.** *Physical requests*, *net graph nodes* and *end-to-end tokens* compare whole trajectories. *Gross
physical nodes* are the union of the matched pruned roots and their Native descendants, over all Native nodes; *gross
virtual nodes* the scored occurrences strictly below them, over all Native ones. Unmatched roots add nothing, and
their share is printed. A reduction is a ratio of totals within a domain and controller, then a mean over controllers,
then over domains.

**Intervals.** 95 %, by resampling tasks: 200,000 paired resamples a condition, 300,000 for a macro, with task
identities shared by the controllers, arms and quantities of a domain. Conditions with binary utility use the exact
law of the difference instead. Clopper-Pearson limits of rescues and regressions stand beside, because an interval of
[0, 0] is not certainty. `--seed` decides, and nothing else does.

The paper's remaining tables are of words: the notation ({doc}`glossary`), what the five views mean (above), and which
claim rests on which evidence ({doc}`promise`).

## Tables
"""
FIGURES_HEAD = """## Figures

A figure pictures the tables named with it and nothing else. `paccf figure RUN NAME -o FILE` writes SVG, PDF or PNG,
the same bytes for the same record; `paccf figure RUN --list` says which of them a record can carry.
"""


def page() -> str:
    """The text of docs/tables.md."""
    audit = Audit(record())
    parts = [HEAD, *(_table(audit, name) for name in _names(audit)), FIGURES_HEAD]
    for name, kind in FIGURES.items():
        made_of = ", ".join(f"`{table}`" for table in kind.pictures)
        parts.append(f"### `{name}` (figure)\n\n{kind.title}. {kind.caption}\n\n- **Pictures:** {made_of}\n")
    return "\n".join(parts)


def _names(audit: Audit) -> list[str]:
    """`raw_game24` stands for the one a domain has."""
    return [name for name in tables.names(audit) if not name.startswith(tables.RAW) or name == "raw_game24"]


def _table(audit: Audit, name: str) -> str:
    raw = name.startswith(tables.RAW)
    shows = tables.titles(audit)[name] if not raw else "Every controller and budget of a domain, with totals"
    lines = [f"### `{'raw_DOMAIN' if raw else name}`", "", f"{shows}.", ""]
    if name in published.names():
        theirs = published.table(name)
        lines.append(f"- **In the paper:** {theirs.title}; section *{theirs.place}*")
    lines.append(f"- **Needs:** {NEEDS['cells' if raw else TABLES[name][2]]}")
    try:
        made = tables.build(audit, name)
        lines += [f"- **Counted from:** {_plain(made.source.query)}", f"- **Columns:** {_columns(made)}"]
    except Unsupported as why:
        lines.append(f"- **Counted from:** the outcomes of all paired tasks that have them; else: {why}")
    if pictured := [figure for figure, kind in FIGURES.items() if name in kind.pictures]:
        lines.append(f"- **Pictured by:** {', '.join(f'`{figure}`' for figure in pictured)}")
    return "\n".join([*lines, ""])


def _columns(made: Table) -> str:
    return ", ".join(f"`{c.key}`" + (f" ({_plain(c.head)})" if c.head not in ("", c.key) else "") for c in made.columns)


def _plain(text: str) -> str:
    """Text without a meaning in Markdown."""
    for sign in "\\*_|<>#`":
        text = text.replace(sign, "\\" + sign)
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
