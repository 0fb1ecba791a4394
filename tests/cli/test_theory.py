import json
import math
import subprocess
import sys

import pytest
from click.testing import CliRunner

from paccf.cli.theory import command

COMMANDS = {
    "regimes": ["--gap", "20", "--bias", "3"],
    "radius": ["--scores", "81 80 79 84"],
    "samples": ["--gap", "20", "--gap", "10", "--bias", "3", "--sigma", "5"],
    "lower-bound": ["--gap", "20", "--gap", "5", "--bias", "3"],
    "boundary": ["--repetitions", "20", "--draws", "40"],
}


def run(*args):
    return CliRunner().invoke(command, [str(a) for a in args])


def reject(constant):
    raise AssertionError(f"{constant} is not JSON")


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_strict_object(name):
    result = run(name, *COMMANDS[name], "--json")
    assert result.exit_code == 0, result.output
    assert isinstance(json.loads(result.output, parse_constant=reject), dict)


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_a_screen(name):
    result = run(name, *COMMANDS[name])
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 110


@pytest.mark.parametrize("name", [*COMMANDS, "frontiers"])
def test_every_help_has_an_example_and_says_what_options_do(name):
    text = run(name, "--help").output
    assert f"paccf theory {name} " in text
    assert "--json" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_pictures(name, tmp_path):
    assert run(name, *COMMANDS[name], "--plot", tmp_path / "x.svg").exit_code == 0
    assert (tmp_path / "x.svg").stat().st_size > 3000


def test_samples_gives_the_known_counts_and_null_for_never():
    rows = json.loads(run("samples", "--gap", "1", "--gap", "0.1", "--json").output)["gaps"]
    assert rows[0]["draws"] | {"lower bound": None} == {
        "union": 595,
        "stitched": 315,
        "mixture": 205,
        "pairwise": 115,
        "lower bound": None,
    }
    assert rows[1]["draws"]["union"] == 91674
    never = json.loads(run("samples", "--gap", "10", "--bias", "3", "--json").output)["gaps"][0]
    assert never["regime"] == "open"
    assert never["exact_union"] is never["draws"]["union"] is None
    assert never["draws"]["lower bound"] == pytest.approx(2 * 0.9 * math.log(19) / 16)
    assert "never" in run("samples", "--gap", "10", "--bias", "3").output
    far = run("samples", "--gap", "1e-300").output
    assert "never" not in far
    assert "> 2^60" in far


def test_regimes_names_each_gap():
    shown = json.loads(run("regimes", "--gap", "1", "--gap", "6", "--gap", "14", "-L", "3", "--json").output)
    assert [g["regime"] for g in shown["gaps"]] == ["impossible", "impossible", "certified"]


def test_radius_of_a_single_candidate_has_no_pairs():
    shown = json.loads(run("radius", "--arms", "1", "-n", "4", "--json").output)
    assert list(shown["radius"]) == ["union", "stitched", "mixture"]


def test_lower_bound_says_where_none_is_asserted():
    text = run("lower-bound", *COMMANDS["lower-bound"]).output
    assert "no bound asserted" in text
    assert "impossible" in text


def test_boundary_says_simulated_and_where_it_differs():
    shown = json.loads(run("boundary", *COMMANDS["boundary"], "--json").output)
    assert shown["source"] == "SIMULATED"
    assert [r["paccf"] for r in shown["paper"]] == [0.97, 0.96, 0.98, 0.98]
    text = run("boundary", *COMMANDS["boundary"], "--level", "0.1").output
    assert text.startswith("SIMULATED: 20 frontiers")
    assert "Where this differs from the paper" in text


def test_frontiers_to_a_file_and_to_standard_output_are_the_same(tmp_path):
    path = tmp_path / "log.jsonl"
    report = json.loads(run("frontiers", "--tasks", "20", "--first", "3", "-o", path, "--json").output)
    lines = path.read_text().splitlines()
    assert report["source"] == "SIMULATED"
    assert report["frontiers"] == len(lines)
    assert run("frontiers", "--tasks", "20", "--first", "3").output.splitlines() == lines
    assert {json.loads(line)["task"] for line in lines} == {f"t-{i:04d}" for i in range(3, 23)}
    assert "SIMULATED" in run("frontiers", "--tasks", "20", "-o", path).output


def test_a_log_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_text("as it was")

    def breaks(*args, **options):
        yield {"task": "t-0"}
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("paccf.theory.frontiers.simulate_frontiers", breaks)
    result = run("frontiers", "-o", path)
    assert result.exit_code == 2
    assert "No space left" in result.output
    assert path.read_text() == "as it was"
    assert [p.name for p in tmp_path.iterdir()] == ["log.jsonl"]


def test_frontiers_knobs_reach_the_evaluator():
    output = run("frontiers", "--tasks", "5", "--repeats", "2", "--noise", "0", "--lattice", "2.5").output
    rows = [row for line in output.splitlines() for row in json.loads(line)["scores"]]
    assert all(len(row) == 2 and row[0] == row[1] and row[0] % 2.5 == 0 for row in rows)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["regimes", "--gap", "nan"], "gap is nan"),
        (["regimes", "--bias", "-1"], "L is -1.0"),
        (["radius", "--sigma", "0"], "sigma is 0.0"),
        (["radius", "-n", "0"], "n is 0"),
        (["radius", "--scores", "81 high"], "give numbers such as"),
        (["radius", "--scores", "101"], r"outside [0, 100]"),
        (["radius", "--scores", ""], "number of observations is 0"),
        (["radius", "--plot", "x.gif"], "end the file name in .svg"),
        (["radius", "--plot", "no/such/folder/x.svg"], "cannot write no/such/folder/x.svg"),
        (["samples", "--delta", "1"], "delta is 1.0"),
        (["samples", "--arms", "0"], "arms is 0"),
        (["lower-bound"], "add --gap 20"),
        (["lower-bound", "--gap", "9", "--delta", "0.5"], "between 0 and 0.5"),
        (["boundary", "--children", "1"], "children is 1"),
        (["boundary", "--imposed", "none"], "'saturated' or 'uniform'"),
        (["frontiers", "--tasks", "-1"], "tasks is -1"),
        (["frontiers", "--repeats", "0"], "repeats is 0"),
        (["frontiers", "--json"], "add -o log.jsonl"),
        (["frontiers", "-o", "no/such/folder/log.jsonl"], "cannot write no/such/folder/log.jsonl"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(args, said):
    result = run(*args)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("module", "args"), [("scipy.special", ["radius"]), ("matplotlib.figure", ["regimes", "--plot", "x.svg"])]
)
def test_a_missing_library_is_named(module, args, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    result = run(*args)
    assert result.exit_code == 2
    assert 'pip install "paccf[lab]"' in result.output


def test_help_loads_no_numerics():
    code = "import sys; import paccf.cli.theory; assert not {'numpy', 'scipy', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
