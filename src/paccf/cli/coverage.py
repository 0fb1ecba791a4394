"""`paccf coverage`: does a frozen margin keep its promise on held-out logs?"""

from __future__ import annotations

import sys
from fractions import Fraction

import click

from paccf.audit.coverage import Coverage
from paccf.cli.deployment import deployment, not_compared, read_certificate
from paccf.cli.frontiers import Found, read_all, skip_bad
from paccf.cli.output import BadInput, clean, emit_json, lab, picture_format, say, table
from paccf.method.certificate import Certificate
from paccf.method.scores import UNIT
from paccf.method.tails import clopper_pearson


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG... CERTIFICATE")
@click.option("--plot", type=click.Path(dir_okay=False), help="Draw the sweep to an .svg, .pdf or .png file.")
@click.option("--rows", type=click.IntRange(min=2), default=16, show_default=True, help="Rows of the printed sweep.")
@deployment
@skip_bad
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, with the whole sweep.")
def command(
    logs: tuple[str, ...],
    plot: str | None,
    rows: int,
    match: tuple[str, ...],
    budget: int | None,
    override: str | None,
    skip: bool,
    as_json: bool,
) -> None:
    """Check a CERTIFICATE on labelled LOGs of tasks it was not calibrated on.

    Prints how many tasks are covered at the frozen margin, with an exact interval and the law that the count should
    follow, in the worst case and without unresolved tasks; whether these tasks expose protected candidates as often as
    those of the calibration; what share of candidates the margin would prune on these fixed traces (a proxy, not a
    saving); and the whole threshold sweep.
    Exit code 1 if coverage is so low that chance does not explain it (p < 0.01).

    \b
    Examples:
      paccf coverage test.jsonl margin.json
      paccf coverage test-1.jsonl.gz test-2.jsonl.gz margin.json --plot sweep.svg
    """
    picture_format(plot)
    if len(logs) < 2:
        raise BadInput("give at least one log and then the certificate: paccf coverage LOG margin.json")
    *logs_, path = logs
    coverage = Coverage(read_certificate(path, match, budget, override))
    figures = lab("paccf.report.figures", "--plot") if plot else None
    found = Found(coverage.deficits)
    read_all(logs_, found, skip, coverage)
    if not coverage.tasks:
        raise BadInput(f"no task of {', '.join(logs_)} exposes a protected candidate, so there is nothing to cover")
    if figures is not None:
        try:
            figures.coverage_sweep(coverage, plot, _title(logs_, coverage.certificate))
        except (OSError, ValueError) as error:
            raise BadInput(f"cannot draw {plot}: {error}") from None
    said = [*_notes(coverage), *not_compared(coverage.certificate, match, budget), *found.notes()]
    if as_json:
        emit_json(_summary(coverage) | {"skipped": found.skipped.count, "notes": said, "plot": plot})
        sys.exit(int(_is_low(coverage)))
    say(f"{clean(', '.join(logs_))}: {found.line()}\n")
    say(_text(coverage))
    say("\n" + _sweep_table(coverage, rows))
    for note in said:
        say(f"Note: {note}")
    if plot:
        say(f"Wrote {clean(plot)}")
    sys.exit(int(_is_low(coverage)))


def _is_low(c: Coverage) -> bool:
    return c.reference is not None and c.reference < 0.01


def _title(logs: list[str], certificate: Certificate) -> str:
    whose = ", ".join(f"{k}={v}" for k, v in certificate.matched_to.items())
    return clean(", ".join(logs) + (f"  ·  {whose}" if whose else ""))


def _summary(c: Coverage) -> dict[str, object]:
    covered, open_ = c.covered(c.theta)
    low, high = c.interval
    certificate, deficits = c.certificate, c.deficits
    return {
        "theta": None if certificate.margin_exact is None else float(c.theta),
        "q": float(Fraction(certificate.q)),
        "tasks": deficits.tasks,
        "denominator": c.tasks,
        "exposed": len(deficits.exposed),
        "missing": deficits.missing,
        "unresolved": deficits.unresolved,
        "frontiers": deficits.frontiers,
        "covered": covered,
        "coverage": covered / c.tasks,
        "coverage_if_unresolved_are_covered": (covered + open_) / c.tasks,
        "open": open_,
        "coverage_resolved": covered / (c.tasks - open_) if c.tasks > open_ else None,
        "clopper_pearson_95": [low, high],
        "beta_binomial_cdf": c.reference,
        "candidates": c.candidates,
        "pruned": c.pruned,
        "protected": c.protected,
        "protected_pruned": c.protected_pruned,
        "exposure": {
            "calibration": [certificate.counts.exposed, certificate.counts.tasks],
            "here": [len(deficits.exposed), deficits.tasks],
            "fisher_p": c.exposure_p,
        },
        "sweep": [[float(p.theta), p.covered, p.pruned, p.protected_pruned] for p in c.sweep()],
        "sweep_columns": ["theta", "covered", "pruned", "protected_pruned"],
        "sweep_resolution": float(c.resolution),
    }


def _text(c: Coverage) -> str:
    covered, open_ = c.covered(c.theta)
    low, high = c.interval
    counts, here = c.certificate.counts, c.deficits
    theta = "infinite" if c.certificate.margin_exact is None else f"{float(c.theta):g}"
    whom = "exposed tasks" if c.certificate.target == "exposed" else "tasks"
    lines = [
        f"margin             {theta}, frozen at Q = {c.certificate.q}",
        f"task coverage      {_share(covered, c.tasks)} {whom}, 95 % interval {100 * low:.2f} to {100 * high:.2f} %",
    ]
    if open_:
        lines[-1] += f", with {open_} unresolved tasks as lost"
        lines.append(
            f"                   {_share(covered, c.tasks - open_)} without these, if they were all covered "
            f"{_share(covered + open_, c.tasks)}"
        )
    if c.reference is not None:
        found = c.certificate
        lines.append(
            f"reference          P({covered} or fewer) = {c.reference:.3f} under beta-binomial({c.tasks}; {found.k}, "
            f"{found.n + 1 - found.k}), the law if both samples are exchangeable"
        )
    lines += [
        f"candidate pruning  {_share(c.pruned, c.candidates)} scored candidates (proxy, on fixed traces)",
        f"protected pruning  {_share(c.protected_pruned, c.protected)} protected candidates (one a frontier is enough)",
        f"exposure           {_share(len(here.exposed), here.tasks)} tasks here, "
        f"{_share(counts.exposed, counts.tasks)} in calibration"
        + ("" if c.exposure_p is None else f"; Fisher p = {c.exposure_p:.2g}"),
    ]
    return "\n".join(lines)


def _sweep_table(c: Coverage, rows: int) -> str:
    """The sweep at about ``rows`` thresholds; the frozen margin is always one of them, marked."""
    points = c.sweep()
    at = max((i for i, p in enumerate(points) if p.theta <= c.theta), default=0)
    shown = sorted({round(i * (len(points) - 1) / (rows - 1)) for i in range(rows)} | {at})
    body = []
    for i in shown:
        p = points[i]
        low, high = clopper_pearson(p.covered, c.tasks)
        mark = " <- frozen" if i == at and c.certificate.margin_exact is not None else ""
        body.append(
            [
                f"{float(p.theta):g}{mark}",
                f"{p.covered}/{c.tasks}",
                f"{100 * p.covered / c.tasks:.2f} %",
                f"{100 * low:.1f}-{100 * high:.1f}",
                f"{100 * p.pruned / (c.candidates or 1):.2f} %",
                f"{100 * p.protected_pruned / (c.protected or 1):.2f} %",
            ]
        )
    return table(["threshold", "covered", "coverage", "95 % interval", "pruned", "protected pruned"], body)


def _notes(c: Coverage) -> list[str]:
    said = [f"override: {clean(note)}" for note in c.certificate.overrides]
    if c.reused:
        some = clean(", ".join(c.reused[:3]))
        said.append(f"{len(c.reused)} tasks are in the calibration sample too (such as {some}): no evidence from them")
    if c.exposure_p is not None and c.exposure_p < 0.01:
        said.append(
            f"exposure differs from the calibration sample (p = {c.exposure_p:.2g}): tasks or labelling are not "
            "the same kind, and the promise needs that they are"
        )
    if _is_low(c):
        open_ = c.covered(c.theta)[1]
        what = f"a coverage this low, with {open_} unresolved tasks as lost," if open_ else "a coverage this low"
        said.append(f"{what} is not explained by chance: do not deploy this margin on such tasks")
    drawn = sorted(c.deficits.draws - {0})
    if c.certificate.observations is not None and drawn and drawn != [c.certificate.observations]:
        said.append(f"scores here have R = {drawn}, the calibration had {c.certificate.observations}: another law")
    if c.resolution > Fraction(1, UNIT):
        said.append(f"the sweep is drawn at a resolution of {float(c.resolution):g}; the frozen margin is exact")
    return said


def _share(part: int, whole: int) -> str:
    return f"{part:,}/{whole:,} = {100 * part / whole:.2f} %" if whole else f"{part}/0"
