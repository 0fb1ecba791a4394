"""The tables of what was run: the configuration, the bill, how searches ended, who was left out, what was checked."""

from __future__ import annotations

import json
from collections.abc import Iterator

from paccf.audit.audit import Audit
from paccf.audit.names import controller_title, domain_title
from paccf.audit.pairs import ARMS
from paccf.audit.run import Unsupported
from paccf.audit.tables.conditions import CONTROLLER
from paccf.audit.tables.macros import BUDGET, DOMAIN, label, source
from paccf.audit.tables.table import Column, Source, Table, Value
from paccf.record.values import Costs, Outcome

ARM = Column("arm", "Arm")
TITLES = {"native": "Native", "paccf": "PAC-CF"}
LONGEST = 200  # ours: characters of a setting that are shown


def frozen_config(audit: Audit) -> Table:
    """What was run, from the record: the paper's items first, then the whole specification."""
    info = audit.run.info
    rows: list[tuple[Value, ...]] = []
    try:
        controllers = dict.fromkeys(c for d in audit.domains for c in audit.controllers(d))
        rows += [
            ("Domains", ", ".join(domain_title(d) for d in audit.domains)),
            ("Controllers", ", ".join(controller_title(c) for c in controllers)),
            ("Budgets", ", ".join(map(str, audit.budgets)) + " physical-equivalent requests per task"),
            ("Paired analysis sets", ", ".join(f"{domain_title(d)} N={len(p.tasks)}" for d, p in audit.pairs.items())),
        ]
    except Unsupported as why:
        rows.append(("Paired analysis sets", f"none: {why}"))
    rows.append(("Provider model", info.model + (" (SIMULATED)" if info.simulated else "")))
    certificates = audit.run.certificates.values()
    for item, found in (
        ("Q", {c.q for c in certificates}),
        ("Rank rule", {c.rule for c in certificates}),
        ("Epsilon", {c.epsilon for c in certificates}),
        (
            "Observations per candidate",
            {"varied" if c.observations is None else str(c.observations) for c in certificates},
        ),
        ("Calibration labels", {c.labels for c in certificates}),
        ("Calibration budget", {"unstated" if c.budget is None else str(c.budget) for c in certificates}),
    ):
        if found:
            rows.append((item, ", ".join(sorted(found))))
    rows += [(f"version of {name}", version) for name, version in sorted(info.versions.items())]
    first = len(rows)
    rows += [(f"spec: {key}", text) for key, text in _flat(info.spec)]
    return Table(
        "frozen_config",
        "Frozen configuration",
        (Column("item", "Item"), Column("setting", "Setting")),
        tuple(rows),
        Source(
            "the run's own specification, certificates and versions, as recorded", {"certificates": len(certificates)}
        ),
        breaks=frozenset({first} if first < len(rows) else ()),
    )


def _flat(spec: str) -> Iterator[tuple[str, str]]:
    """The settings of a JSON document, one a leaf."""
    try:
        value = json.loads(spec)
    except ValueError:
        yield "text", spec[:LONGEST]
        return
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        name, one = stack.pop()
        if isinstance(one, dict) and one:
            stack += [(f"{name}.{key}" if name else str(key), part) for key, part in reversed(one.items())]
        elif name:
            text = one if isinstance(one, str) else json.dumps(one)
            yield name, text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def bill(audit: Audit) -> Table:
    """Where the requests and tokens went, by arm, over all paired tasks."""
    kinds = sorted({kind for p in audit.pairs.values() for o in p.outcomes.values() for kind in o.costs.requests})
    columns = (
        DOMAIN,
        BUDGET,
        CONTROLLER,
        ARM,
        *(Column(f"requests_{kind}", kind, 0) for kind in kinds),
        Column("requests", "Requests", 0),
        Column("prompt_tokens", "Prompt tokens", 0),
        Column("completion_tokens", "Completion tokens", 0),
        Column("unknown", "Unknown usage", 0),
        Column("nodes", "Nodes", 0),
        Column("scored", "Scored", 0),
        Column("illegal", "Illegal", 0),
        Column("unparsable", "Unparsable", 0),
        Column("malformed", "Malformed", 0),
        Column("sent", "Sent", 0),
    )
    rows: list[tuple[Value, ...]] = []
    breaks: set[int] = set()
    for domain, controller, budget in audit.conditions():
        for arm in ARMS:
            found = _outcomes(audit, domain, controller, budget, arm)
            if rows and rows[-1][:2] != (domain_title(domain), label(budget)):
                breaks.add(len(rows))
            costs = [o.costs for o in found]
            names = domain_title(domain), label(budget), controller_title(controller), TITLES[arm]
            by_kind = [sum(c.requests.get(kind, 0) for c in costs) for kind in kinds]
            rows.append((*names, *by_kind, sum(by_kind), *_sums(costs)))
    return Table(
        "bill",
        "The bill: where the requests and tokens went",
        columns,
        tuple(rows),
        source(
            audit,
            "sums over all paired tasks; a request answered by the tape counts as one, Sent went over the wire; "
            "tokens of answers without usage are in no sum",
        ),
        breaks=frozenset(breaks),
    )


def bill_main(audit: Audit) -> Table:
    """Both arms' bills at the largest budget, summed over everything."""
    budget = audit.budgets[-1]
    arms = [
        [o.costs for d, c, b in audit.conditions() if b == budget for o in _outcomes(audit, d, c, b, arm)]
        for arm in ARMS
    ]
    kinds = sorted({kind for costs in arms for c in costs for kind in c.requests})
    counted: dict[str, list[int]] = {
        f"requests: {kind}": [sum(c.requests.get(kind, 0) for c in costs) for costs in arms] for kind in kinds
    }
    counted["requests, all"] = [sum(c.total for c in costs) for costs in arms]
    names = ("prompt tokens", "completion tokens", "answers of unknown usage", "graph nodes", "scored candidates")
    sums = [_sums(costs) for costs in arms]
    for place, name in enumerate(names):
        counted[name] = [arm[place] for arm in sums]
    counted["sent over the wire"] = [arm[-1] for arm in sums]
    rows = tuple(
        (what, native, paccf, 100 * (1 - paccf / native) if native else None)
        for what, (native, paccf) in counted.items()
    )
    columns = (
        Column("what", "What"),
        Column("native", TITLES["native"], 0),
        Column("paccf", TITLES["paccf"], 0),
        Column("saved", "Saved", 1, "%"),
    )
    query = "sums over all paired tasks, controllers and domains at the largest budget, ended by it or not"
    counts = {"searches of each arm": len(arms[0])}
    return Table("bill_main", f"Both arms' bills at {label(budget)}", columns, rows, Source(query, counts))


def _outcomes(audit: Audit, domain: str, controller: str, budget: int, arm: str) -> list[Outcome]:
    p = audit.pairs[domain]
    return [p.outcomes[arm, budget, controller, task] for task in p.tasks]


def _sums(costs: list[Costs]) -> list[int]:
    names = ["prompt_tokens", "completion_tokens", "unknown_tokens", "nodes", "scored"]
    names += ["illegal", "unparsable", "malformed", "sent"]
    return [sum(getattr(c, name) for c in costs) for name in names]


def ends(audit: Audit) -> Table:
    """How the searches ended."""
    reasons = sorted({o.end for p in audit.pairs.values() for o in p.outcomes.values()})
    columns = (DOMAIN, BUDGET, CONTROLLER, ARM, *(Column(f"end_{r.replace(' ', '_')}", r, 0) for r in reasons))
    rows: list[tuple[Value, ...]] = []
    breaks: set[int] = set()
    for domain, controller, budget in audit.conditions():
        for arm in ARMS:
            found = [o.end for o in _outcomes(audit, domain, controller, budget, arm)]
            names = domain_title(domain), label(budget), controller_title(controller), TITLES[arm]
            if rows and rows[-1][:2] != names[:2]:
                breaks.add(len(rows))
            rows.append((*names, *(found.count(r) for r in reasons)))
    query = "end reasons of the searches of all paired tasks; budget: the hard cap ended it (censored)"
    return Table("ends", "How the searches ended", columns, tuple(rows), source(audit, query), breaks=frozenset(breaks))


def metrics(audit: Audit) -> Table:
    """The domain's further utilities, as means over the paired tasks where both arms have them: one that a task does
    not define, like the F1 of a kind of tools that nobody called, is left out of its record."""
    columns = (
        DOMAIN,
        BUDGET,
        CONTROLLER,
        Column("metric", "Metric"),
        Column("n", "N", 0),
        Column("native", "Native", 4),
        Column("paccf", "PAC-CF", 4),
        Column("delta", "Δ", 4, signed=True),
    )
    rows: list[tuple[Value, ...]] = []
    for domain, controller, budget in audit.conditions():
        both = [[o.metrics for o in _outcomes(audit, domain, controller, budget, arm)] for arm in ARMS]
        pairs = list(zip(*both, strict=True))
        for name in sorted({name for one, other in pairs for name in {*one} & {*other}}):
            defined = [(one[name], other[name]) for one, other in pairs if name in one and name in other]
            native, paccf = (sum(column) / len(defined) for column in zip(*defined, strict=True))
            names = domain_title(domain), label(budget), controller_title(controller)
            rows.append((*names, name, len(defined), native, paccf, paccf - native))
    if not rows:
        raise Unsupported("no domain of the record reports further utilities")
    query = "means over the N paired tasks whose record has the figure in both arms"
    return Table("metrics", "Further utilities", columns, tuple(rows), source(audit, query))


def exclusions(audit: Audit) -> Table:
    """The tasks in no pair, and why: out of both arms and all controllers of the domain."""
    rows = tuple(
        (domain_title(domain), task, reason)
        for domain, p in audit.pairs.items()
        for task, reason in sorted(p.excluded.items())
    )
    columns = (DOMAIN, Column("task", "Task"), Column("reason", "Reason"))
    query = (
        "declared exclusions, technical failures and unfinished tasks; complete case over arms, controllers and budgets"
    )
    return Table("exclusions", "Excluded tasks", columns, rows, Source(query, {"tasks": len(rows)}))


def checks(audit: Audit) -> Table:
    """What was checked, and what does not agree."""
    columns = (Column("check", "Check"), Column("made", "Made", 0), Column("failed", "Failed", 0), Column("said", ""))
    rows: list[tuple[Value, ...]] = []
    for check in audit.contradictions.checks:
        said = check.impossible if check.impossible else "; ".join(check.failures[:3])
        rows.append((check.what, check.made, len(check.failures), said))
    query = "facts that the record holds twice, compared"
    return Table("checks", "Contradictions within the record", columns, tuple(rows), Source(query))
