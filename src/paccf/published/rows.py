"""The rows of the paper's tables, as typed values. A field is a column, named as in the table's CSV file.

``Printed`` is a figure with its digits as printed; ``None`` stands for the paper's ``--``.
Domains, controllers and budgets are the paper's own words. Reductions and utility differences are in percent and
percentage points of PAC-CF against Native; a positive reduction means less work.
"""

from __future__ import annotations

from dataclasses import dataclass

from paccf.published.figure import Printed


@dataclass(frozen=True, slots=True)
class Margin:
    domain: str
    controller: str
    margin: Printed


@dataclass(frozen=True, slots=True)
class CalibrationRank:
    domain: str
    controller: str
    n: Printed
    k_95: Printed
    margin: Printed
    bound_pct: Printed


@dataclass(frozen=True, slots=True)
class Macro:
    domain: str
    budget: str
    delta_utility_pp: Printed
    preq_reduction_pct: Printed
    net_graph_reduction_pct: Printed
    token_reduction_pct: Printed


@dataclass(frozen=True, slots=True)
class MainInterval:
    row: str
    delta_utility_pp: Printed
    delta_utility_lo: Printed
    delta_utility_hi: Printed
    preq_pct: Printed
    preq_lo: Printed
    preq_hi: Printed
    net_graph_pct: Printed
    net_graph_lo: Printed
    net_graph_hi: Printed
    token_pct: Printed
    token_lo: Printed
    token_hi: Printed


@dataclass(frozen=True, slots=True)
class DomainInterval:
    domain: str
    budget: str
    delta_utility: Printed
    delta_utility_lo: Printed
    delta_utility_hi: Printed
    preq: Printed
    preq_lo: Printed
    preq_hi: Printed
    net_graph: Printed
    net_graph_lo: Printed
    net_graph_hi: Printed
    token: Printed
    token_lo: Printed
    token_hi: Printed


@dataclass(frozen=True, slots=True)
class ToolTreeInterval:
    budget: str
    delta_utility: Printed
    delta_utility_lo: Printed
    delta_utility_hi: Printed
    preq: Printed
    preq_lo: Printed
    preq_hi: Printed
    net_graph: Printed
    net_graph_lo: Printed
    net_graph_hi: Printed
    token: Printed
    token_lo: Printed
    token_hi: Printed


@dataclass(frozen=True, slots=True)
class ConditionInterval:
    domain: str
    budget: str
    controller: str
    delta_utility_pp: Printed
    lo: Printed
    hi: Printed
    n: Printed


@dataclass(frozen=True, slots=True)
class Header:
    position: Printed
    header: str


@dataclass(frozen=True, slots=True)
class PerBackbone:
    domain: str
    controller: str
    b100_delta_utility_pp: Printed
    b100_n_eff: Printed
    b100_preq_pct: Printed
    b100_net_graph_pct: Printed
    b100_token_pct: Printed
    b500_delta_utility_pp: Printed
    b500_n_eff: Printed
    b500_preq_pct: Printed
    b500_net_graph_pct: Printed
    b500_token_pct: Printed


@dataclass(frozen=True, slots=True)
class RawBinary:
    """One condition of Game24 or Blocksworld: utility is the number of solved tasks."""

    budget: str
    controller: str
    n_eff: Printed
    native_succ: Printed
    pac_cf_succ: Printed
    delta_succ: Printed
    preq_pct: Printed
    net_graph_pct: Printed
    tok_native_m: Printed
    tok_pac_cf_m: Printed
    token_pct: Printed


@dataclass(frozen=True, slots=True)
class RawGta:
    """One condition of GTA: utility is Avg3, a mean of three F1 scores."""

    budget: str
    controller: str
    n_eff: Printed
    native_avg3: Printed
    pac_cf_avg3: Printed
    delta_pp: Printed
    preq_pct: Printed
    net_graph_pct: Printed
    tok_native_m: Printed
    tok_pac_cf_m: Printed
    token_pct: Printed


@dataclass(frozen=True, slots=True)
class GrossSubtree:
    domain: str
    controller: str
    n_eff: Printed | None
    physical_nodes_pct: Printed
    net_graph_pct: Printed
    matched_roots_pct: Printed


@dataclass(frozen=True, slots=True)
class GrossMacro:
    domain: str
    budget: str
    n_eff: Printed
    gross_physical_nodes_pct: Printed
    gross_virtual_nodes_pct: Printed


@dataclass(frozen=True, slots=True)
class Sensitivity:
    budget: str
    preq_all: Printed
    preq_nbc: Printed
    net_graph_all: Printed
    net_graph_nbc: Printed
    token_all: Printed
    token_nbc: Printed


@dataclass(frozen=True, slots=True)
class WithoutToolTree:
    budget: str
    delta_utility_pp: Printed
    preq_reduction_pct: Printed
    net_graph_reduction_pct: Printed


@dataclass(frozen=True, slots=True)
class AdaptiveAudit:
    domain: str
    controller: str
    exposed: Printed
    no_all_protected_loss: Printed
    survival_pct: Printed


@dataclass(frozen=True, slots=True)
class NativeCoverage:
    controller: str
    margin: Printed
    exposed: Printed | None
    reconstructed: Printed | None
    covered: Printed | None
    coverage_printed: str


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    controller: str
    theta: Printed
    task_coverage_printed: str
    candidate_prune_pct: Printed
    protected_action_prune_pct: Printed


@dataclass(frozen=True, slots=True)
class ControlledCheck:
    bias_level_in_delta: Printed
    delta_minus_4l_positive: str
    pruning_pct: Printed
    uct_pcs: Printed
    pac_cf_pcs: Printed


@dataclass(frozen=True, slots=True)
class CaseFigure:
    """Outcome, requests or nodes of the worked example; outcomes are words."""

    quantity: str
    native: str
    pac_cf: str
    reduction_pct: Printed | None


@dataclass(frozen=True, slots=True)
class Regime:
    gap_regime: str
    consequence: str


@dataclass(frozen=True, slots=True)
class Setting:
    item: str
    frozen_setting: str
