"""`paccf theory`: the fixed-frontier theory from the command line. NumPy and SciPy load when a command runs."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paccf.cli.output import BadInput, emit_json, lab, table

if TYPE_CHECKING:
    from paccf.theory.boundary import Share

Command = Callable[..., None]


@click.group()
def theory() -> None:
    """What the paper proves about one frontier: radii, regimes, bounds, the check.

    The symbols are the paper's. A frontier has K candidates (--arms); a score is the candidate's value, plus a
    persistent bias of at most L (--bias), plus noise that is sigma-sub-Gaussian; delta is the risk taken and
    epsilon the loss that does not matter. L is assumed here, never estimated: it is not the calibrated margin.

    \b
    Examples:
      paccf theory regimes --gap 20 --bias 3            what a gap allows at all
      paccf theory samples --gap 20 --bias 3 --sigma 5  draws for a certified deletion
      paccf theory boundary --plot check.svg            the paper's controlled check, simulated
      paccf theory frontiers --tasks 200 -o log.jsonl   a simulated log to try `paccf calibrate` on
    """


command = theory


def _guarded(body: Command) -> Command:
    """A refused argument, or a file that cannot be written, becomes a sentence and exit code 2."""

    @functools.wraps(body)
    def run(**options: Any) -> None:
        try:
            if options.get("plot") is not None:  # before any work is done
                lab("matplotlib.figure", "--plot")
                from paccf.theory.pictures import check_format

                check_format(options["plot"])
            body(**options)
        except ValueError as e:
            raise BadInput(f"{e}.") from None
        except OSError as e:
            if e.filename is None:
                raise
            raise BadInput(f"cannot write {e.filename}: {e.strerror}.") from None

    return run


def _options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    return lambda body: functools.reduce(lambda f, option: option(f), reversed(options), _guarded(body))


sigma = click.option("--sigma", default=1.0, show_default=True, help="Noise of one draw, sub-Gaussian constant.")
arms = click.option("--arms", default=5, show_default=True, help="K, the candidates on the frontier.")
delta = click.option("--delta", default=0.05, show_default=True, help="Chance that any statement fails.")
bias = click.option("--bias", "-L", "L", default=0.0, show_default=True, help="L, the largest persistent bias.")
epsilon = click.option("--epsilon", default=0.0, show_default=True, help="A loss that does not matter.")
as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object; null stands for infinity.")
plot = click.option("--plot", type=click.Path(path_type=Path), help="Draw it: FILE.svg, .pdf or .png.")
some_gaps = click.option("--gap", "gaps", multiple=True, type=float, help="A true-value gap; may be repeated.")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _show(value: float | None, digits: int = 1) -> str:
    if value is None:
        return "-"
    if math.isinf(value):
        return "never"
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def _count(draws: float, room: float) -> str:
    """Draws for a room: where there is one, infinitely many are only more than can be counted."""
    return "> 2^60" if math.isinf(draws) and room > 0 else _show(draws)


@theory.command()
@_options(some_gaps, bias, epsilon, as_json, plot)
def regimes(gaps: tuple[float, ...], L: float, epsilon: float, as_json: bool, plot: Path | None) -> None:
    """Say which of the four regimes a true-value gap is in.

    \b
    Example:
      paccf theory regimes --gap 5 --gap 8 --gap 20 --bias 3 --epsilon 1
    """
    from paccf.theory.regimes import Regime, effective_gap, regime

    found = [(gap, regime(gap, L, epsilon), effective_gap(gap, L)) for gap in gaps]
    regime(0.0, L, epsilon)  # refuses bad L and epsilon also without a gap
    if plot:
        from paccf.theory.pictures import draw_regimes

        draw_regimes(plot, gaps, L, epsilon)
    if as_json:
        rows = [{"regime": r.value, "condition": r.condition, "consequence": r.consequence} for r in Regime]
        values = [{"gap": g, "regime": r.value, "effective_gap": e} for g, r, e in found]
        return emit_json({"L": L, "epsilon": epsilon, "regimes": rows, "gaps": values})
    click.echo(f"L = {L:g}, epsilon = {epsilon:g}: 2L = {2 * L:g}, 4L + epsilon = {4 * L + epsilon:g}\n")
    click.echo(table(["regime", "when", "then"], [(r.value, r.condition, r.consequence) for r in Regime], left=3))
    if found:
        click.echo()
        click.echo(table(["gap", "gap - 4L", "regime"], [(f"{g:g}", f"{e:g}", r.value) for g, r, e in found], 0))
    return None


@theory.command()
@click.option("--draws", "-n", "counts", multiple=True, type=int, help="Draws per candidate; may be repeated.")
@click.option("--scores", help="One candidate's draws, such as '81 80 79 84': its intervals, by betting too.")
@click.option("--expect", default=100.0, show_default=True, help="Draws that mixture and pairwise are tuned for.")
@_options(sigma, arms, delta, bias, as_json, plot)
def radius(
    counts: tuple[int, ...],
    scores: str | None,
    expect: float,
    sigma: float,
    arms: int,
    delta: float,
    L: float,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Print how far a mean of n draws may be off.

    Each radius holds for every n at once.
    union is the paper's u_stat; stitched, mixture and pairwise keep the same promise with fewer draws. Each is
    the statistical part alone: bias adds L to a candidate and 2L to a difference (pairwise).

    \b
    Example:
      paccf theory radius --sigma 5 --arms 5 --bias 2 -n 4 -n 64 -n 1024
      paccf theory radius --sigma 5 --scores '81 80 79 84'
    """
    lab("scipy.special", "paccf theory radius")
    from paccf.theory.arguments import not_negative
    from paccf.theory.betting import Betting
    from paccf.theory.confidence import analytic

    not_negative("L", L)
    boundaries = analytic(sigma, arms, delta, expect)
    counts = counts or (1, 4, 16, 64, 256, 1024)
    radii = {name: [b.radius(n) for n in counts] for name, b in boundaries.items()}
    intervals: dict[str, tuple[float, float]] = {}
    if scores is not None:
        x = _numbers(scores)
        intervals = {name: b.interval(x) for name, b in boundaries.items() if name != "pairwise"}
        intervals["betting"] = Betting(0.0, 100.0, arms, delta).interval(x)
    if plot:
        from paccf.theory.pictures import count_grid, draw_radius

        grid = count_grid(max(1024, *counts))
        draw_radius(plot, grid, {name: [b.radius(n) for n in grid] for name, b in boundaries.items()}, L)
    if as_json:
        setting = {"sigma": sigma, "arms": arms, "delta": delta, "L": L, "expect": expect}
        return emit_json({**setting, "draws": counts, "radius": radii, "intervals": intervals})
    click.echo(f"sigma = {sigma:g}, K = {arms}, delta = {delta:g}; for u_dist add L = {L:g} (pairwise: {2 * L:g})\n")
    rows = [(f"{n:,}", *(f"{radii[name][i]:.4g}" for name in radii)) for i, n in enumerate(counts)]
    click.echo(table(["draws", *radii], rows, 0))
    if intervals:
        click.echo("\nThe mean behind these draws lies, before bias, in (betting assumes only scores in 0-100):")
        click.echo(table(["by", "from", "to"], [(k, f"{lo:.1f}", f"{hi:.1f}") for k, (lo, hi) in intervals.items()]))
    return None


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.replace(",", " ").split()]
    except ValueError as e:
        raise ValueError(f"--scores: {e}; give numbers such as '81 80 79 84'") from None


@theory.command()
@_options(some_gaps, sigma, arms, delta, bias, epsilon, as_json, plot)
def samples(
    gaps: tuple[float, ...],
    sigma: float,
    arms: int,
    delta: float,
    L: float,
    epsilon: float,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Count the draws per candidate that make a deletion certain.

    union is the paper's rule, 4 u_stat(n) < gap - 4L - epsilon, solved exactly; the others tighten the radius
    (each mixture tuned for its own gap). 'lower bound' is what any method at all must spend on two children in
    the worst case. 'never' means that bias eats the gap: then more scores do not help.

    \b
    Example:
      paccf theory samples --gap 40 --gap 20 --gap 10 --bias 3 --sigma 5 --plot samples.svg
    """
    lab("scipy.special", "paccf theory samples")
    from paccf.theory.confidence import compare
    from paccf.theory.lower import two_point_bound
    from paccf.theory.regimes import regime
    from paccf.theory.samples import exact_samples

    def row(gap: float) -> dict[str, float]:
        counts = compare(gap - 4 * L - epsilon, sigma, arms, delta)
        if delta < 0.5:
            counts["lower bound"] = two_point_bound(gap, sigma, delta, L, epsilon)
        return counts

    gaps = gaps or tuple(sigma * g + 4 * L + epsilon for g in (4.0, 2.0, 1.0, 0.5, 0.1))
    rows = {gap: row(gap) for gap in gaps}
    exact = {gap: exact_samples(gap, sigma, arms, delta, L, epsilon) for gap in gaps}
    if plot:
        from paccf.theory.pictures import draw_samples, gap_grid

        grid = gap_grid(gaps, L, epsilon)
        columns = [row(gap) for gap in grid]
        draw_samples(plot, grid, {name: [c[name] for c in columns] for name in columns[0]}, L, epsilon)
    if as_json:
        setting = {"sigma": sigma, "arms": arms, "delta": delta, "L": L, "epsilon": epsilon}
        entries = [
            {
                "gap": gap,
                "regime": regime(gap, L, epsilon).value,
                "exact_union": _finite(exact[gap]),
                "draws": {k: _finite(v) for k, v in found.items()},
            }
            for gap, found in rows.items()
        ]
        return emit_json({**setting, "gaps": entries})
    click.echo(f"sigma = {sigma:g}, K = {arms}, delta = {delta:g}, L = {L:g}, epsilon = {epsilon:g}\n")
    header = ["gap", "regime", "exact n", *next(iter(rows.values()))]
    lines = [
        (
            f"{gap:g}",
            regime(gap, L, epsilon).value,
            *(_count(v, gap - 4 * L - epsilon) for v in (exact[gap], *found.values())),
        )
        for gap, found in rows.items()
    ]
    click.echo(table(header, lines, 2))
    return None


@theory.command("lower-bound")
@_options(some_gaps, sigma, delta, bias, epsilon, as_json, plot)
def lower_bound(
    gaps: tuple[float, ...], sigma: float, delta: float, L: float, epsilon: float, as_json: bool, plot: Path | None
) -> None:
    """Bound from below what any method must draw.

    Shows also the two worlds that no method can tell apart.
    The gaps are those of all candidates but the best; the sum is the paper's additive bound. A candidate whose
    gap + epsilon is at most 2L adds nothing: no bound is asserted for it.

    \b
    Example:
      paccf theory lower-bound --gap 20 --gap 12 --gap 5 --bias 3 --sigma 5 --plot bound.svg
    """
    from paccf.theory.lower import additive_bound, two_point_bound, two_worlds

    if not gaps:
        raise ValueError("no gap is given; add --gap 20, once for each candidate but the best")
    bound = additive_bound(gaps, sigma, delta, L, epsilon)
    pairs = [two_point_bound(gap, sigma, delta, L, epsilon) for gap in gaps]
    worlds = two_worlds(min(gaps), L)
    if plot:
        from paccf.theory.pictures import draw_lower_bound

        draw_lower_bound(plot, gaps, sigma, delta, L, epsilon)
    if as_json:
        terms = [
            {"gap": t.gap, "two_point": _finite(pair), "additive": _finite(t.draws), "standing": t.standing.value}
            for t, pair in zip(bound.terms, pairs, strict=True)
        ]
        shown = [{"values": w.values, "biases": w.biases, "observed": w.observed} for w in worlds]
        index = {"index_set": bound.index_set, "total": _finite(bound.total), "worlds": shown}
        return emit_json({"sigma": sigma, "delta": delta, "L": L, "epsilon": epsilon, "terms": terms, **index})
    rows = [
        (f"{t.gap:g}", "impossible" if math.isinf(pair) else _show(pair), _show(t.draws), t.standing.value)
        for t, pair in zip(bound.terms, pairs, strict=True)
    ]
    click.echo(table(["gap", "two children alone", "term of the sum", "standing"], rows, 0))
    click.echo(f"\nexpected draws on this frontier: at least {_show(bound.total)}\n")
    click.echo(f"Two worlds with opposite best children at gap {min(gaps):g}, |bias| <= {L:g}:")
    lines = [
        (name, *(", ".join(f"{v:+g}" for v in pair) for pair in (w.values, w.biases, w.observed)))
        for name, w in zip("PQ", worlds, strict=True)
    ]
    click.echo(table(["world", "values", "biases", "observed means"], lines))
    return None


def _share(share: Share, unit: int = 1) -> str:
    """The share and the wider side of its interval, per ``unit``."""
    half = max(share.value - share.low, share.high - share.value)
    digits = 1 if unit == 100 else 3
    return f"{unit * share.value:.{digits}f} ±{unit * half:.{digits}f}"


@theory.command()
@click.option("--level", "levels", multiple=True, type=float, help="L as a share of the gap; may be repeated.")
@click.option("--repetitions", default=2000, show_default=True, help="Frontiers per level.")
@click.option("--children", default=4, show_default=True, help="Children per frontier.")
@click.option("--gap", default=20.0, show_default=True, help="Median gap to the best, in points.")
@click.option("--spread", default=1 / 3, show_default="1/3", help="Standard deviation of ln(gap).")
@click.option("--sigma", default=2.0, show_default=True, help="Noise of one draw, in points.")
@click.option("--draws", default=400, show_default=True, help="Draws per child.")
@click.option("--imposed", default="saturated", show_default=True, help="How bias falls: saturated or uniform.")
@click.option("--seed", default=0, show_default=True, help="Same seed, same figures.")
@_options(delta, epsilon, as_json, plot)
def boundary(
    levels: tuple[float, ...], repetitions: int, imposed: str, as_json: bool, plot: Path | None, **knobs: Any
) -> None:
    """Run the controlled check, SIMULATED.

    Bias is imposed; with more of it pruning stops, and choosing by the scores fails.
    Imposed bias pulls the best child down by L and lifts the others by L (saturated), or is drawn from [-L, L]
    (uniform). Pruning is the share of other children that interval elimination deletes; UCT PCS how often UCT
    settles on the best child; PAC-CF PCS how often the best child survives; 'chosen' how often the top mean
    among the survivors is the best child. ± is a 95 % interval. About a second per level.

    \b
    Example:
      paccf theory boundary --plot check.svg
      paccf theory boundary --level 0.1 --level 0.3 --imposed uniform --json
    """
    from dataclasses import asdict

    from paccf.theory.boundary import DIFFERENCES, LEVELS, PRINTED, Setting, check

    setting = Setting(repetitions=repetitions, bias=imposed, **knobs)
    rows = check(setting, levels or LEVELS)
    if plot:
        from paccf.theory.pictures import draw_boundary

        draw_boundary(plot, rows)
    if as_json:
        parts = {"setting": asdict(setting), "rows": [asdict(r) for r in rows], "paper": [asdict(p) for p in PRINTED]}
        return emit_json({"source": "SIMULATED", **parts, "differences": DIFFERENCES})
    click.echo(
        f"SIMULATED: {setting.repetitions} frontiers of {setting.children} children, {setting.bias} bias, "
        f"{setting.draws} draws a child, seed {setting.seed}.\nPruning is a share of "
        f"{rows[0].pruning.of} suboptimal children; the other columns are shares of {rows[0].uct.of} frontiers.\n"
    )
    paper = {p.level: (f"{100 * p.pruning:.1f}", f"{p.uct:.2f}", f"{p.paccf:.2f}") for p in PRINTED}
    lines = []
    for r in rows:
        printed = paper.get(r.level, ("-", "-", "-"))
        ours = (_share(r.pruning, 100), _share(r.uct), _share(r.survived))
        pairs = [cell for pair in zip(ours, printed, strict=True) for cell in pair]
        lines.append((f"{r.level:g}", "yes" if r.sufficient else "no", *pairs, _share(r.chosen)))
    columns = ["pruning %", "paper", "UCT PCS", "paper", "PAC-CF PCS", "paper", "chosen"]
    click.echo(table(["L / gap", "gap > 4L", *columns], lines))
    click.echo("\nWhere this differs from the paper, at the default settings:")
    for sentence in DIFFERENCES:
        click.echo(click.wrap_text(sentence, 100, "- ", "  "))
    return None


@theory.command()
@click.option("--tasks", default=200, show_default=True, help="Tasks; each is a walk over about three frontiers.")
@click.option("--seed", default=0, show_default=True, help="Same seed, same log.")
@click.option("--first", default=0, show_default=True, help="Index of the first task; task 17 is always the same.")
@click.option("--repeats", default=4, show_default=True, help="R, draws per candidate.")
@click.option("--bias", default=12.0, show_default=True, help="L: no candidate is mis-scored by more, in points.")
@click.option("--noise", default=4.0, show_default=True, help="Standard deviation of one draw, in points.")
@click.option("--lattice", default=1.0, show_default=True, help="Draws are rounded to multiples of this.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write here [default: standard output].")
@_options(as_json)
def frontiers(tasks: int, seed: int, first: int, output: Path | None, as_json: bool, **knobs: Any) -> None:
    """Write a SIMULATED frontier log, truth included.

    One JSON line per scored frontier.
    Scores are value + persistent bounded bias + noise, on 0-100. 'protected' says which candidates lead to a
    solution; in some tasks none ever does. A calibration and a held-out log are two ranges of one seed:

    \b
    Example:
      paccf theory frontiers --tasks 100 -o train.jsonl
      paccf theory frontiers --tasks 500 --first 100 -o test.jsonl
    """
    from contextlib import nullcontext

    import msgspec

    from paccf.method.certificate import whole_file
    from paccf.theory.frontiers import Evaluator, simulate_frontiers

    if as_json and output is None:
        raise ValueError("--json reports on a log that goes to a file; add -o log.jsonl")
    log = simulate_frontiers(tasks, seed, first=first, evaluator=Evaluator(**knobs))
    encode = msgspec.json.Encoder().encode
    lines = 0
    with nullcontext(sys.stdout.buffer) if output is None else whole_file(output) as file:
        for frontier in log:
            file.write(encode(frontier) + b"\n")
            lines += 1
    if as_json:
        emit_json({"source": "SIMULATED", "file": str(output), "tasks": tasks, "first": first, "frontiers": lines})
    elif output is not None:
        click.echo(f"{output}: {lines} SIMULATED frontiers of {tasks} tasks, seed {seed}")
