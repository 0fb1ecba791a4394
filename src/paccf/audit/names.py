"""The paper's words for what a record calls by short names, and the order in which the paper lists them."""

from __future__ import annotations

from collections.abc import Iterable

DOMAINS = {"game24": "Game24", "blocksworld": "Blocksworld", "gta": "GTA"}
# short name -> the paper's
CONTROLLERS = {
    "uct": "UCT-MCTS",
    "toolchain": "ToolChain*",
    "lats": "LATS",
    "tooltree": "ToolTree",
    "levin": "LevinTS",
}
TOOLTREE = "tooltree"

# a workload view -> its head in tables
VIEWS = {
    "requests": "P-Req.",
    "physical_nodes": "Physical nodes",
    "virtual_nodes": "Virtual nodes",
    "net_graph": "Net graph",
    "tokens": "E2E tokens",
}
REALIZED = ("requests", "net_graph", "tokens")  # whole trajectories compared
GROSS = ("physical_nodes", "virtual_nodes")  # reconstructed from matched Native ancestry


def domain_title(name: str) -> str:
    return DOMAINS.get(name, name)


def controller_title(name: str) -> str:
    return CONTROLLERS.get(name, name)


def in_order(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """``names`` once each: known ones as the paper lists them, then the others by name."""
    order = {name: place for place, name in enumerate(known)}
    return tuple(sorted(set(names), key=lambda name: (order.get(name, len(order)), name)))
