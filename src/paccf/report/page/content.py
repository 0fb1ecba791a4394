"""What a report says and in which order: the answer, the bill, the promise, the evidence, the cases, the record.

A part that the record cannot carry is left out, and the last section says so with the reason. Tables and figures that
no section names stand under "Further tables", so that none is ever lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from paccf.audit import tables
from paccf.audit.audit import Audit
from paccf.audit.run import Unsupported
from paccf.record.foreign import clean
from paccf.report.page import answer, promise
from paccf.report.page.blocks import Block, Bullets, Cases, Page, Picture, Section, TableBlock, Text
from paccf.report.page.cases import cases
from paccf.report.tables import SIMULATED, document, render, texts

LONGEST_NAME = 60  # ours: characters of a model's or run's name in the head


@dataclass(frozen=True)
class Part:
    """A section: its words, its figures, and its tables; those of ``first`` are open from the start."""

    id: str
    title: str
    lead: str
    first: tuple[str, ...]
    then: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()


BILL = Part(
    "bill",
    "The bill",
    "Both arms, over all paired tasks. A request answered from the tape counts like any other; `sent` is what really "
    "went over the wire.",
    ("bill_main",),
    ("bill", "ends", "workload", "gross_subtree_main", "gross_all_budgets"),
    ("bill",),
)
PROMISE = Part(
    "promise",
    "The promise",
    "",
    ("calibration_rank_audit",),
    ("q95_l_main", "margin_by_q", "margin_steps", "exposure", "deficits"),
    ("deficits", "margin_by_q"),
)
EVIDENCE = (
    Part(
        "coverage",
        "Coverage",
        "The frozen margins on held-out tasks, whose labels were found after their searches had ended. Coverage speaks "
        "of Native traces and is what was promised; survival on the pruned trajectory was not, and is only measured.",
        ("zero_api_native_coverage",),
        ("adaptive_oracle_audit", "zero_api_threshold_point", "coverage_sweep"),
        ("coverage_sweep",),
    ),
    Part(
        "savings",
        "Savings and utility",
        "Native and PAC-CF on the same tasks. Utility is over all pairs. Workload is over the pairs that no budget "
        "ended, as ratios of totals by controller and then their mean; the figure over all pairs stands beside it.",
        ("macro_main", "main_ci"),
        (
            "domain_macro_ci",
            "per_condition_ci",
            "per_backbone_main",
            "budget_censor_sensitivity",
            "cohorts",
            "exclude_tooltree_macro",
            "strong_backbone_ci",
            "main_budget_efficiency",
            "metrics",
        ),
        ("main_budget_efficiency", "workload", "per_condition_ci"),
    ),
)
CASES = Part(
    "cases",
    "Single tasks",
    "Found by rule: the largest rescue and the largest regression of each domain and controller, and the tie that "
    "saved most. The two trees are one tree, joined by path: what stands at the same height is the same node.",
    (),
    ("cases", "qual_case_main"),
)
EVALUATOR = Part(
    "evaluator",
    "Evaluator",
    "The margin pays for a weak evaluator: the less its scores say, the wider the margin and the less is pruned.",
    ("evaluator",),
    ("evaluator_curve",),
    ("evaluator_curve",),
)
RECORD = Part(
    "record",
    "What was run",
    "From the record. `paccf audit RUN` makes every check again and exits with 1 if one fails.",
    ("checks", "frozen_config"),
    ("exclusions",),
)


def page(audit: Audit) -> Page:
    """Everything the record can carry."""
    left = dict(tables.titles(audit))
    for name in tables.NO_RECORD:
        del left[name]
    lacking: dict[str, str] = {}
    drawn = _figures(audit, lacking)

    def blocks(part: Part) -> Iterator[Block]:
        if part.lead:
            yield Text(part.lead)
        yield from (drawn.pop(name) for name in part.figures if name in drawn)
        for name in (*part.first, *part.then):
            if left.pop(name, None) is not None and (block := _table(audit, name, name in part.first, lacking)):
                yield block

    sections = [
        _section(BILL, blocks(BILL)),
        _section(PROMISE, [*promise.blocks(audit), *blocks(PROMISE)]),
        *(_section(part, blocks(part)) for part in EVIDENCE),
        _section(CASES, _after_lead(_cases(audit, lacking), blocks(CASES))),
        _section(EVALUATOR, blocks(EVALUATOR)),
        _section(RECORD, blocks(RECORD)),
    ]
    rest = Part("more", "Further tables", "", (), tuple(left), tuple(drawn))
    sections.append(_section(rest, blocks(rest)))
    if lacking:
        reasons = Bullets(tuple((name, clean(why)) for name, why in lacking.items()))
        sections.append(Section("lacking", "What this record cannot show", (reasons,)))
    found = answer.answer(audit)
    return Page(
        name=_short(audit.name),
        simulated=SIMULATED if audit.simulated else "",
        facts=_facts(audit),
        answer=found.sentence,
        detail=found.detail,
        warnings=tuple(promise.warnings(audit)),
        sections=(Section("answer", "The answer", found.blocks), *(s for s in sections if _says(s))),
    )


def _section(part: Part, blocks: Iterable[Block]) -> Section:
    return Section(part.id, part.title, tuple(blocks))


def _after_lead(inserted: Iterable[Block], blocks: Iterable[Block]) -> list[Block]:
    lead, *others = blocks
    return [lead, *inserted, *others]


def _says(section: Section) -> bool:
    """Whether there is more in it than its introduction."""
    return any(not isinstance(block, Text) for block in section.blocks)


def _facts(audit: Audit) -> tuple[tuple[str, str], ...]:
    info = audit.run.info
    versions = ", ".join(f"{name} {version}" for name, version in info.versions.items() if name == "paccf")
    found = [("run", _short(info.name)), ("model", _short(info.model)), ("made by", versions)]
    return tuple((name, value) for name, value in found if value)


def _short(text: str) -> str:
    text = clean(text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def _figures(audit: Audit, lacking: dict[str, str]) -> dict[str, Picture]:
    """Every figure that the record can carry, by its name."""
    try:
        from paccf.report import figures
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "matplotlib":
            raise
        lacking["figures"] = "drawing needs Matplotlib: pip install 'paccf[lab]', then write the report again"
        return {}
    found = {}
    for name in figures.names():
        try:
            figure = figures.build(audit, name)
        except Unsupported as why:
            lacking[f"figure {name}"] = str(why)
            continue
        source = figure.data[0].source
        found[name] = Picture(
            name=name,
            title=figure.title,
            caption=figure.caption,
            svg=figure.web(),
            tables=tuple(table.name for table in figure.data),
            query=clean(source.query),
            counts=tuple(source.counts.items()),
        )
    return found


def _cases(audit: Audit, lacking: dict[str, str]) -> Iterator[Block]:
    try:
        found = cases(audit)
    except Unsupported as why:
        lacking["trees of single tasks"] = str(why)
        return
    if found:
        yield Cases(found)


def _table(audit: Audit, name: str, opened: bool, lacking: dict[str, str]) -> TableBlock | None:
    """The table as the page shows it; where the run's folder lies is nobody's business, so it is not in it."""
    try:
        table = replace(tables.build(audit, name), of=clean(audit.name))
    except Unsupported as why:
        lacking[name] = str(why)
        return None
    text, left = texts(table)
    return TableBlock(
        name=name,
        title=clean(table.title),
        shown=opened,
        heads=tuple(column.head for column in table.columns),
        words=tuple(left),
        rows=tuple(map(tuple, text)),
        breaks=tuple(sorted(table.breaks)),
        notes=tuple(map(clean, table.notes)),
        query=clean(table.source.query),
        counts=tuple(table.source.counts.items()),
        csv=render(table, "csv"),
        json=msgspec.Raw(msgspec.json.encode(document(table))),
    )
