import math
from pathlib import Path

import pytest

from paccf.theory.boundary import Setting, check
from paccf.theory.pictures import (
    check_format,
    count_grid,
    draw_boundary,
    draw_lower_bound,
    draw_radius,
    draw_regimes,
    draw_samples,
    gap_grid,
)

ROWS = check(Setting(repetitions=20, draws=40), [0.05, 0.4])

DRAWINGS = {
    "regimes": lambda path: draw_regimes(path, [5, 20], 3, 1),
    "regimes-empty": lambda path: draw_regimes(path, [], 0, 0),
    "radius": lambda path: draw_radius(path, [1, 10, 100], {"union": [3, 2, 1], "pairwise": [4, 2, 1]}, 2),
    "samples": lambda path: draw_samples(
        path, [5, 10, 20], {"union": [math.inf, 9, 3], "lower bound": [9, 1, 0.1]}, 1, 0
    ),
    "lower-bound": lambda path: draw_lower_bound(path, [20, 12, 5], 5, 0.05, 3, 0.5),
    "lower-bound-unbiased": lambda path: draw_lower_bound(path, [2], 1, 0.05, 0, 0),
    "boundary": lambda path: draw_boundary(path, ROWS),
}


@pytest.mark.parametrize("name", DRAWINGS)
@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_bytes_every_time(name, ending, tmp_path):
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    DRAWINGS[name](first)
    DRAWINGS[name](second)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) > 3000


def test_the_check_says_that_it_is_simulated(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):  # keep text as text
        draw_boundary(tmp_path / "check.svg", ROWS)
    assert "SIMULATED" in (tmp_path / "check.svg").read_text()


def test_unknown_formats_are_refused():
    with pytest.raises(ValueError, match=r"end the file name in \.svg, \.pdf or \.png"):
        check_format(Path("picture.gif"))


def test_grids():
    assert count_grid(1000)[0] == 1
    assert count_grid(1000)[-1] == 1000
    assert count_grid(10**12)[-1] == 10**7
    grid = gap_grid([40.0], 3, 1)
    assert grid == sorted(grid)
    assert grid[0] == 6
    assert any(13 < g < 13.5 for g in grid)
    with pytest.raises(ValueError, match="gaps above 0"):
        gap_grid([0.0], 0, 0)
