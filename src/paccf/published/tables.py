"""Reading the paper's tables: one CSV file a table beside this module, one typed row a printed row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import StringIO
from typing import Generic, TypeVar

from paccf.published import rows
from paccf.published.figure import Printed

R = TypeVar("R")

# name -> (what the table shows, where it stands in the paper)
TITLES: dict[str, tuple[str, str]] = {
    "q95_l_main": ("Frozen margins at Q = .95", "Experimental Setup"),
    "calibration_rank_audit": ("Calibration tasks, ranks, margins and bounds", "Frozen Configuration"),
    "macro_main": ("Utility and workload, per domain and three-domain macro", "Main results"),
    "main_ci": ("Three-domain macros with 95 % intervals", "Main results"),
    "per_backbone_main": ("Every controller at B100 and B500", "Per-Backbone Main Results"),
    "raw_game24": ("Game24, every controller and budget", "Raw Main-Experiment Budget Data"),
    "raw_blocksworld": ("Blocksworld, every controller and budget", "Raw Main-Experiment Budget Data"),
    "raw_gta": ("GTA, every controller and budget", "Raw Main-Experiment Budget Data"),
    "domain_macro_ci": ("Domain macros with 95 % intervals", "Task-Level Paired Statistical Audit"),
    "strong_backbone_ci": ("ToolTree over three domains, with intervals", "Task-Level Paired Statistical Audit"),
    "per_condition_ci": ("Utility of every condition with its interval", "Per-Condition Paired Utility Intervals"),
    "per_condition_header": ("The column heads of that table", "Per-Condition Paired Utility Intervals"),
    "gross_subtree_main": ("Gross subtree pruning at B500", "Main results"),
    "gross_all_budgets": ("Gross subtree macros at every budget", "Budget-Censoring Sensitivity"),
    "budget_censor_sensitivity": ("All tasks beside non-budget-censored tasks", "Budget-Censoring Sensitivity"),
    "exclude_tooltree_macro": ("Three-domain macro without ToolTree", "Excluding-ToolTree robustness"),
    "zero_api_native_coverage": ("Coverage of the margin on Native traces", "Native-trace empirical coverage"),
    "zero_api_threshold_point": ("The frozen operating points offline", "Offline threshold diagnostic"),
    "adaptive_oracle_audit": ("Survival on the adaptive trajectory", "Adaptive-trajectory oracle diagnostic"),
    "safety_ablation_main": ("Controlled check at the theoretical boundary", "Robustness and heterogeneity"),
    "qual_case_main": ("One Blocksworld task", "Realized workload and trajectory example"),
    "theory_regimes": ("What the gap allows", "Bias-aware elimination"),
    "frozen_config": ("Frozen configuration", "Frozen Configuration"),
}


@dataclass(frozen=True, slots=True)
class Table(Generic[R]):
    """A printed table: its name, its column names and its rows."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[R, ...]

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    def find(self, **keys: str) -> R:
        """The row whose columns read as given, e.g. ``find(domain="GTA", budget="B100")``; LookupError if none."""
        for row in self.rows:
            if all(written(getattr(row, column)) == text for column, text in keys.items()):
                return row
        raise LookupError(f"the table {self.name} has no row with {keys}")

    @property
    def cells(self) -> list[list[str]]:
        """The table as printed, without its column names."""
        return [[written(getattr(row, column)) for column in self.columns] for row in self.rows]

    @property
    def title(self) -> str:
        return TITLES[self.name][0]

    @property
    def place(self) -> str:
        """The section of the paper that prints the table."""
        return TITLES[self.name][1]


@dataclass(frozen=True, slots=True)
class Paper:
    """All printed tables of the paper."""

    q95_l_main: Table[rows.Margin]
    calibration_rank_audit: Table[rows.CalibrationRank]
    macro_main: Table[rows.Macro]
    main_ci: Table[rows.MainInterval]
    per_backbone_main: Table[rows.PerBackbone]
    raw_game24: Table[rows.RawBinary]
    raw_blocksworld: Table[rows.RawBinary]
    raw_gta: Table[rows.RawGta]
    domain_macro_ci: Table[rows.DomainInterval]
    strong_backbone_ci: Table[rows.ToolTreeInterval]
    per_condition_ci: Table[rows.ConditionInterval]
    per_condition_header: Table[rows.Header]
    gross_subtree_main: Table[rows.GrossSubtree]
    gross_all_budgets: Table[rows.GrossMacro]
    budget_censor_sensitivity: Table[rows.Sensitivity]
    exclude_tooltree_macro: Table[rows.WithoutToolTree]
    zero_api_native_coverage: Table[rows.NativeCoverage]
    zero_api_threshold_point: Table[rows.ThresholdPoint]
    adaptive_oracle_audit: Table[rows.AdaptiveAudit]
    safety_ablation_main: Table[rows.ControlledCheck]
    qual_case_main: Table[rows.CaseFigure]
    theory_regimes: Table[rows.Regime]
    frozen_config: Table[rows.Setting]


def names() -> tuple[str, ...]:
    """The names of all tables, in the order of ``Paper``."""
    return tuple(f.name for f in fields(Paper))


@lru_cache(maxsize=1)
def load() -> Paper:
    """The paper as printed."""
    return read(files("paccf.published") / "tables")


def read(folder: Traversable) -> Paper:
    """The tables in another folder, e.g. of a revised paper. ValueError names the file, line and column."""
    return Paper(
        q95_l_main=_table(folder, "q95_l_main", rows.Margin),
        calibration_rank_audit=_table(folder, "calibration_rank_audit", rows.CalibrationRank),
        macro_main=_table(folder, "macro_main", rows.Macro),
        main_ci=_table(folder, "main_ci", rows.MainInterval),
        per_backbone_main=_table(folder, "per_backbone_main", rows.PerBackbone),
        raw_game24=_table(folder, "raw_game24", rows.RawBinary),
        raw_blocksworld=_table(folder, "raw_blocksworld", rows.RawBinary),
        raw_gta=_table(folder, "raw_gta", rows.RawGta),
        domain_macro_ci=_table(folder, "domain_macro_ci", rows.DomainInterval),
        strong_backbone_ci=_table(folder, "strong_backbone_ci", rows.ToolTreeInterval),
        per_condition_ci=_table(folder, "per_condition_ci", rows.ConditionInterval),
        per_condition_header=_table(folder, "per_condition_header", rows.Header),
        gross_subtree_main=_table(folder, "gross_subtree_main", rows.GrossSubtree),
        gross_all_budgets=_table(folder, "gross_all_budgets", rows.GrossMacro),
        budget_censor_sensitivity=_table(folder, "budget_censor_sensitivity", rows.Sensitivity),
        exclude_tooltree_macro=_table(folder, "exclude_tooltree_macro", rows.WithoutToolTree),
        zero_api_native_coverage=_table(folder, "zero_api_native_coverage", rows.NativeCoverage),
        zero_api_threshold_point=_table(folder, "zero_api_threshold_point", rows.ThresholdPoint),
        adaptive_oracle_audit=_table(folder, "adaptive_oracle_audit", rows.AdaptiveAudit),
        safety_ablation_main=_table(folder, "safety_ablation_main", rows.ControlledCheck),
        qual_case_main=_table(folder, "qual_case_main", rows.CaseFigure),
        theory_regimes=_table(folder, "theory_regimes", rows.Regime),
        frozen_config=_table(folder, "frozen_config", rows.Setting),
    )


def table(name: str) -> Table[object]:
    """One table by name; LookupError lists the names if there is none such."""
    if name not in names():
        raise LookupError(f"there is no table {name!r}; the tables are {', '.join(names())}")
    found: Table[object] = getattr(load(), name)
    return found


def written(cell: object) -> str:
    """A cell as printed."""
    return "--" if cell is None else str(cell)


def _table(folder: Traversable, name: str, row: type[R]) -> Table[R]:
    file = f"{name}.csv"
    try:
        text = (folder / file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"{file} is missing; `paccf published list` names the tables") from None
    lines = list(csv.reader(StringIO(text)))
    kinds = {f.name: str(f.type) for f in fields(row)}  # type: ignore[arg-type]  # R is always a row of rows.py
    if not lines or lines[0] != list(kinds):
        raise ValueError(f"{file}, line 1: the columns must be {','.join(kinds)}")
    made = [_row(f"{file}, line {number}", line, kinds, row) for number, line in enumerate(lines[1:], 2)]
    return Table(name, tuple(kinds), tuple(made))


def _row(where: str, line: list[str], kinds: dict[str, str], row: type[R]) -> R:
    if len(line) != len(kinds):
        raise ValueError(f"{where}: {len(line)} cells, the table has {len(kinds)} columns")
    cells: list[object] = []
    for (column, kind), text in zip(kinds.items(), line, strict=True):
        try:
            cells.append(_cell(kind, text))
        except ValueError as e:
            raise ValueError(f"{where}, column {column}: {e}") from None
    return row(*cells)


def _cell(kind: str, text: str) -> object:
    if kind == "str":
        return text
    return None if kind == "Printed | None" and text == "--" else Printed(text)
