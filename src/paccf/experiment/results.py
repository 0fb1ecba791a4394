"""What came out: the calibration audit, the coverage of the test tasks, and what the margins saved and cost. From the
record alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from paccf.audit.audit import Audit
from paccf.audit.coverage import Coverage
from paccf.audit.evaluator import Evaluator
from paccf.audit.names import REALIZED, controller_title, domain_title
from paccf.audit.remarks import remark
from paccf.audit.run import Run, Unsupported, of_store
from paccf.audit.traced import feed
from paccf.experiment.design import Cell
from paccf.experiment.folder import Folder
from paccf.method.certificate import Certificate
from paccf.record.values import Outcome

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """``tables`` are (title, head, rows, columns on the left, notes under it); ``data`` the same for machines."""

    head: str
    tables: tuple[tuple[str, Row, tuple[Row, ...], int, tuple[str, ...]], ...]
    data: dict[str, Any]


def results(folder: Folder) -> Results:
    """The tables of a run folder as far as it got."""
    run = of_store(folder.store, folder.run)
    spec = folder.design.spec
    said = "SIMULATED " if run.info.simulated else ""
    head = f"{said}{spec.name}: model {run.info.model}, seed {spec.seed}, Q {spec.certificate.q}"
    head += "".join(f"\nNote: {caveat}" for caveat in run.info.caveats)
    certificates = folder.certificates()
    tested = [o for o in run.outcomes if o.key.phase == "test"]
    held = {cell: Held.of(folder, cell, c) for cell, c in certificates.items()} if tested else {}
    tables = []
    if certificates:
        tables.append(_calibration(folder, certificates, held, said))
    if held:
        tables.append(_coverage(folder, held, said))
    if tested and "paccf" not in spec.arms:
        tables.append(_arms(folder, tested, said))
    if tested and "paccf" in spec.arms:
        try:
            tables.append(_macro(run, said))
        except Unsupported as why:  # every task failed in some cell
            head += f"\nNote: the arms cannot be compared: {why}"
    if folder.store.exclusions(folder.run):
        tables.append(_exclusions(folder))
    data = {
        "name": spec.name,
        "simulated": run.info.simulated,
        "caveats": list(run.info.caveats),
        "model": run.info.model,
        "tables": [_as_data(*table[:3]) for table in tables],
    }
    return Results(head, tuple(tables), data)


def _calibration(folder: Folder, certificates: dict[Cell, Certificate], held: dict[Cell, Held], said: str) -> Any:
    """One line a cell, as the paper's calibration-rank audit, with how far its stream went."""
    spec = folder.design.spec
    rows: list[Row] = []
    notes = []
    for cell in folder.design.cells:
        c = certificates.get(cell)
        if c is None:
            continue
        first = spec.pool(cell.domain)[0]
        counts = c.counts
        rows.append(
            (
                domain_title(cell.domain),
                controller_title(cell.controller),
                counts.tasks,
                f"+{counts.tasks - first}" if counts.tasks > first else "-",
                counts.exposed,
                f"{100 * counts.exposed / counts.tasks:.0f} %" if counts.tasks else "-",
                c.k,
                "keep all" if c.margin is None else f"{c.margin:g}",
                "-" if c.margin is None else f"{100 * (c.n + 1 - c.k) / (c.n + 1):.2f} %",
            )
        )
        if told := remark(c, *held.get(cell, (None, None))):
            notes.append(f"{domain_title(cell.domain)} {controller_title(cell.controller)}: {told}.")
    head: Row = ("domain", "controller", "tasks", "extended", "exposed", "rate", "k", "margin", "bound")
    title = f"{said}Calibration audit: protected-exposed tasks n, rank k and margin at Q = {spec.certificate.q}"
    return title, head, tuple(rows), 2, tuple(notes)


class Held(NamedTuple):
    """A cell's margin held against its Native test traces, at the largest budget that it is for, and their scores;
    at the largest of all where it is for none, which nothing is promised of."""

    coverage: Coverage
    judge: Evaluator

    @classmethod
    def of(cls, folder: Folder, cell: Cell, certificate: Certificate) -> Held:
        spec = folder.design.spec
        excluded = {e.task for e in folder.store.exclusions(folder.run) if e.domain == cell.domain}
        found = cls(Coverage(certificate, promised=bool(spec.promised)), Evaluator())
        for search in folder.store.searches(
            folder.run,
            spec.calibration.labels,
            phase="test",
            domain=cell.domain,
            controller=cell.controller,
            arm="native",
            budget=max(spec.promised, default=spec.largest),
        ):
            task = search.outcome.key.task
            labelled = [f for f in search.frontiers if f.protected is not None]
            if task in excluded or len(labelled) < len(search.frontiers):
                continue
            if not labelled:
                found.coverage.add(task, [], [])
            for frontier in labelled:
                feed(task, frontier, found.coverage)
                found.judge.add(task, frontier)
        return found


def _coverage(folder: Folder, held: dict[Cell, Held], said: str) -> Any:
    rows: list[Row] = []
    for cell in folder.design.cells:
        if cell not in held:
            continue
        found = held[cell].coverage
        covered, open_ = found.covered(found.theta)
        low, high = found.interval if found.tasks else (0.0, 1.0)
        rows.append(
            (
                domain_title(cell.domain),
                controller_title(cell.controller),
                found.deficits.tasks,
                found.tasks,
                covered,
                open_,
                f"{100 * covered / found.tasks:.1f} %" if found.tasks else "-",
                f"{100 * low:.1f}-{100 * high:.1f} %",
                "-" if found.reference is None else f"{found.reference:.3f}",
                f"{100 * found.pruned / found.candidates:.1f} %" if found.candidates else "-",
            )
        )
    head: Row = ("domain", "controller", "tasks", "exposed", "covered", "open", "share", "95 %", "P(so few)", "beyond")
    spec = folder.design.spec
    promise = f"promised {spec.certificate.q}" if spec.promised else "nothing is promised at these budgets"
    title = f"{said}Coverage of the test tasks on their Native traces: {promise}"
    notes = (
        "Of the exposed tasks; open: unresolved labels, which count as lost in the share and in its Clopper-Pearson "
        "interval. P(so few): how likely so low a count is if calibration and test tasks are exchangeable. The "
        "controllers of a domain share its tasks, so their counts go up and down together. Beyond: candidates of these "
        "traces that score too low for the margin; no saving, since a search that drops them goes elsewhere.",
    )
    return title, head, tuple(rows), 2, notes


def _macro(run: Run, said: str) -> Any:
    """Utility change and savings by domain and budget, and their mean over domains, as the paper's main table."""
    audit = Audit(run)
    rows: list[Row] = []
    places: list[tuple[str, str | None]] = [(domain_title(d), d) for d in audit.domains]
    if len(audit.domains) > 1:
        places.append((f"mean of {len(audit.domains)}", None))
    for label, domain in places:
        for budget in audit.budgets:
            gain = audit.macro("utility", budget, domain=domain).value
            saved = [audit.macro(view, budget, domain=domain).value for view in REALIZED]
            cells = [c for (d, _, b), c in audit.cells.items() if b == budget and domain in (None, d)]
            effective, pairs = sum(c.n_eff for c in cells), sum(c.tasks for c in cells)
            rows.append(
                (label, f"B{budget}", _signed(gain, "pp"), *(_signed(s, "%") for s in saved), f"{effective}/{pairs}")
            )
    head: Row = ("domain", "budget", "utility", "requests", "net nodes", "tokens", "N_eff")
    title = f"{said}PAC-CF against Native: change in utility, and share of the work saved"
    notes = (
        "Utility is over all paired tasks. The work is over the N_eff pairs that no hard budget ended, as ratios of "
        "totals by controller, then their mean; a minus means that PAC-CF did more work.",
    )
    return title, head, tuple(rows), 2, notes


def _arms(folder: Folder, tested: Sequence[Outcome], said: str) -> Any:
    """What each arm did, where there is no pair to compare: a mean over the tasks that are not excluded."""
    out = {(e.domain, e.task) for e in folder.store.exclusions(folder.run)}
    rows: list[Row] = []
    for cell in folder.design.cells:
        for budget in folder.design.spec.budgets:
            for arm in folder.design.spec.arms:
                mine = [
                    o
                    for o in tested
                    if (o.key.domain, o.key.controller, o.key.arm, o.key.budget) == (*cell, arm, budget)
                    and (o.key.domain, o.key.task) not in out
                ]
                if not mine:
                    continue
                means = (
                    fmean(values)
                    for values in zip(*((o.utility, o.costs.total, o.costs.nodes) for o in mine), strict=True)
                )
                utility, requests, nodes = means
                rows.append(
                    (
                        domain_title(cell.domain),
                        controller_title(cell.controller),
                        f"B{budget}",
                        arm,
                        len(mine),
                        f"{100 * utility:.2f} %",
                        f"{requests:,.1f}",
                        f"{nodes:,.1f}",
                        sum(o.censored for o in mine),
                    )
                )
    head: Row = ("domain", "controller", "budget", "arm", "tasks", "utility", "requests", "nodes", "cut off")
    notes = ("Means over the tasks. Cut off: ended by the budget. A shadow arm decides as Native does.",)
    return f"{said}What each arm did", head, tuple(rows), 4, notes


def _exclusions(folder: Folder) -> Any:
    rows = tuple((e.domain, e.task, e.reason) for e in folder.store.exclusions(folder.run))
    return "Excluded from both arms and all controllers", ("domain", "task", "reason"), rows, 3, ()


def _signed(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value + 0.0:+.2f} {unit}"


def _as_data(title: str, head: Sequence[object], rows: Sequence[Row]) -> dict[str, Any]:
    return {"title": title, "rows": [dict(zip(map(str, head), row, strict=True)) for row in rows]}
