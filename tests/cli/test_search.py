"""`paccf search` as a user runs it, and the round trip: search, log, calibrate, search with the certificate."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from paccf.cli import main
from paccf.cli.tree_view import lines, reason
from paccf.domains.game24.oracle import reachable
from paccf.domains.game24.world import Game24, task_of
from paccf.domains.labels import protected
from paccf.domains.oracles import oracle_of
from paccf.domains.toy import Toy
from paccf.method.admission import ScoreGap
from paccf.models.simulated import simulated
from paccf.search.controllers import CONTROLLERS, controller
from paccf.search.controllers.lats import Lats
from paccf.search.driver import run as drive
from paccf.search.driver import search
from paccf.search.fingerprint import fingerprint
from paccf.search.scoring import Scoring
from paccf.search.trace import Arm, Frontier
from paccf.search.tree import Action

HAND = "4 7 8 8"


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["search", *args])


def as_json(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_controller_ends_with_a_bill(controller: str) -> None:
    result = run("--task", HAND, "--controller", controller)
    assert result.exit_code == 0, result.output
    for part in ("SIMULATED/paper-like", "4-7-8-8", "solution", "end ", "requests", "tokens", "nodes", "expansions"):
        assert part in result.output
    assert "keep" not in result.output, "quiet in a pipe"
    found = as_json("--task", HAND, "--controller", controller)
    (search,) = found["searches"]
    assert (found["simulated"], found["arm"], found["margin"]) == (True, "native", None)
    assert f"requests    {search['bill']['total']} of 100" in result.output
    assert search["bill"]["total"] == sum(search["bill"]["requests"].values()) <= 100
    assert search["solved"] == (search["utility"] == 1.0) == (search["end"] == "solved")
    assert search["bill"]["expansions"] == len(search["frontiers"])
    assert all(len(o) == 4 for f in search["frontiers"] for o in f["observations"] if o is not None)
    assert search["bill"]["nodes"] == sum(len(f["kept"]) for f in search["frontiers"]) == count(search["tree"]) - 1


def count(tree: dict[str, Any]) -> int:
    return 1 + sum(count(kid) for kid in tree["kids"] or ())


def test_the_live_tree_says_what_was_dropped_and_why() -> None:
    text = run("--task", HAND, "--controller", "uct", "--margin", "30", "--tree").output
    assert "root" in text
    assert re.search(r"\d\.\d [█▉▊▋▌▍▎▏ ]{10}  drop  .*  deficit [\d.]+ > 30$", text, re.M)
    assert re.search(r"\d\.\d ┄{10}  margin 30 ends here$", text, re.M)
    assert re.search(r"^root ─+ 5 of 100 requests$", text, re.M)
    assert "keep" in text
    (search,) = as_json("--task", HAND, "--controller", "uct", "--margin", "30")["searches"]
    dropped = sum(len(f["eligible"]) - len(f["kept"]) for f in search["frontiers"])
    assert text.count("drop  ") == dropped > 0
    assert f"dropped {dropped} of" in text
    assert "native rule" in run("--task", HAND, "--controller", "tooltree", "--tree").output


def test_a_shadow_shows_the_margin_and_changes_nothing() -> None:
    native = as_json("--task", HAND, "--controller", "tooltree")["searches"][0]
    shadow = as_json("--task", HAND, "--controller", "tooltree", "--margin", "5", "--arm", "shadow")["searches"][0]
    assert shadow["tree"] == native["tree"]
    assert shadow["bill"] == native["bill"]
    assert any(f["gap"] != f["kept"] for f in shadow["frontiers"])
    text = run("--task", HAND, "--controller", "tooltree", "--margin", "5", "--arm", "shadow", "--tree").output
    assert "would drop: deficit" in text
    assert "margin 5 would end here" in text
    assert "would have dropped" in text


def test_an_infinite_margin_keeps_everything() -> None:
    found = as_json("--task", HAND, "--controller", "levin", "--margin", "inf")
    assert (found["arm"], found["margin"], found["keeps_all"]) == ("paccf", None, True)
    assert found["searches"][0]["tree"] == as_json("--task", HAND, "--controller", "levin")["searches"][0]["tree"]


def test_several_tasks_get_a_line_each_and_the_seed_draws_them() -> None:
    found = run("--tasks", "6", "--controller", "uct", "--seed", "3")
    assert found.exit_code == 0, found.output
    assert "of 6 solved" in found.output
    drawn = [s["task"] for s in as_json("--tasks", "6", "--seed", "3")["searches"]]
    assert all(f"\n{task} " in found.output for task in drawn)
    assert [s["task"] for s in as_json("--tasks", "2", "--skip", "4", "--seed", "3")["searches"]] == drawn[4:]
    named = as_json("--task", HAND, "--task", "1 2 3 4")["searches"]
    assert [s["task"] for s in named] == ["4-7-8-8", "1-2-3-4"]


def test_settings_scoring_and_seed_reach_the_search() -> None:
    found = as_json("--task", HAND, "--set", "n=3", "--set", "w=0.5", "--repeats", "2", "--microbatch", "2")
    assert found["config"].startswith("n=3,w=0.5")
    frontiers = found["searches"][0]["frontiers"]
    assert all(len(f["candidates"]) <= 3 for f in frontiers)
    assert {len(o) for f in frontiers for o in f["observations"] if o} == {2}
    assert as_json("--task", HAND, "--proposer", "sample")["scoring"].endswith("proposer=sample")
    assert as_json("--task", HAND, "--controller", "tooltree", "--set", "stop_on_win=false")["config"].endswith(
        "=False"
    )
    first, again, other = (as_json("--task", HAND, "--seed", s) for s in ("1", "1", "2"))
    assert first == again
    assert first["searches"] != other["searches"]


@pytest.fixture
def earned(tmp_path: Path) -> tuple[str, list[str]]:
    """A certificate from simulated Native searches, made as the output says."""
    log, out = str(tmp_path / "uct.jsonl"), str(tmp_path / "m.json")
    result = run("--tasks", "30", "--controller", "uct", "--budget", "40", "--log", log)
    assert result.exit_code == 0, result.output
    advice = result.output.strip().rpartition("\n")[2].split()
    assert advice[:2] == ["paccf", "calibrate"]
    args = [a.strip("'") for a in advice[1:]]
    args[-1] = out
    made = CliRunner().invoke(main, args)
    assert made.exit_code == 0, made.output
    return out, args


def test_log_calibrate_and_use(earned: tuple[str, list[str]]) -> None:
    certificate, args = earned
    made = json.loads(Path(certificate).read_text())
    assert (made["labels"], made["budget"], made["observations"]) == ("oracle", 40, 4)
    assert made["counts"]["tasks"] == 30
    found = as_json("--task", HAND, "--controller", "uct", "--budget", "40", "--certificate", certificate)
    assert (found["arm"], found["margin"], found["overrides"]) == ("paccf", made["margin"], [])
    assert found["matched_to"] == made["matched_to"]
    assert found["promise"].startswith("Q 0.95, rank")
    again = ["--controller", "uct", "--budget", "40", "--certificate", certificate]
    used = made["deficits"][0][0]
    assert "1 of these tasks calibrated the margin; its promise is for new ones" in run(*again, "--task", used).output
    for seed in ("0", "1"):
        new = as_json(*again, "--tasks", "20", "--seed", seed)
        assert new["notes"] == []
        assert not {s["task"] for s in new["searches"]} & {task for task, _ in made["deficits"]}
    assert args[1].endswith("uct.jsonl")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--controller", "levin"], "controller: calibrated for 'uct', deployed on 'levin'"),
        (["--budget", "41"], "budget: calibrated with at most 40 requests a task, deployed with 41"),
        (["--repeats", "2"], "scoring: calibrated for 'repeats=4"),
        (["--set", "k=5"], "config: calibrated for 'k=8"),
        (["--profile", "useless"], "model: calibrated for 'SIMULATED/paper-like@"),
    ],
)
def test_a_certificate_that_does_not_fit(earned: tuple[str, list[str]], change: list[str], named: str) -> None:
    asked = ["--task", HAND, "--controller", "uct", "--budget", "40", "--certificate", earned[0], *change]
    result = run(*asked)
    assert result.exit_code == 2
    assert named in result.output
    overridden = run(*asked, "--override", "a try")
    assert overridden.exit_code == 0, overridden.output
    assert f"override: {named}" in overridden.output
    assert "(overridden: a try)" in overridden.output


def test_a_log_takes_a_task_once_and_native_traces_only(tmp_path: Path) -> None:
    log = str(tmp_path / "l.jsonl")
    assert run("--task", HAND, "--log", log, "--margin", "5", "--arm", "shadow").exit_code == 0
    before = Path(log).read_text()
    for refused, why in (
        (["--task", HAND], "already holds the task 4-7-8-8"),
        (["--task", "1 2 3 4", "--margin", "5"], "Native traces"),
    ):
        result = run(*refused, "--log", log)
        assert (result.exit_code, Path(log).read_text()) == (2, before)
        assert why in result.output
    assert run("--task", "1 2 3 4", "--log", log).exit_code == 0
    assert run("--task", "1 1 1 8", "--budget", "1", "--log", log).exit_code == 0
    rows = [json.loads(line) for line in Path(log).read_text().splitlines()]
    assert {row["task"] for row in rows} == {"4-7-8-8", "1-2-3-4", "1-1-1-8"}
    assert rows[-1]["scores"] == [], "a search without a frontier counts as a missing task"
    Path(log).write_text("not a log\n")
    assert run("--task", HAND, "--log", log).exit_code == 2
    assert run("--task", HAND, "--log", str(tmp_path / "no" / "l.jsonl")).exit_code == 2


def test_log_labels_are_the_oracle_of_each_frontier(tmp_path: Path) -> None:
    log = tmp_path / "l.jsonl"
    run("--task", HAND, "--controller", "tooltree", "--log", str(log))
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert rows[0]["frontier"] == "root"
    assert any(not all(row["eligible"]) for row in rows)
    game, hand = Game24(), task_of(HAND)
    after = {action.key: game.execute(hand, hand.data, action).state for action in game.legal(hand.data)}
    assert rows[0]["protected"] == [reachable(after[key]) for key in rows[0]["candidates"]]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--task", "4 7 8"], "no hand: write four whole numbers"),
        (["--task", "4 7 8 99"], "no hand"),
        ([], "--task '4 7 8 8' (repeatable), or --tasks N"),
        (["--task", HAND, "--split", "test"], "tasks that --tasks draws"),
        (["--tasks", "3", "--source", "tott"], "Did you mean 'tot'?"),
        (["--tasks", "3", "--source", "tot", "--data", "/nowhere"], "no /nowhere/game24/24.csv (--data)"),
        (["--task", HAND, "--world", "horizon=4"], "no setting of game24 'horizon'. Known: none"),
        (["--task", HAND, "--domain", "gam24"], "Did you mean 'game24'?"),
        (["--task", HAND, "--tasks", "2"], "--tasks N"),
        (["--task", HAND, "--skip", "2"], "--skip"),
        (["--tasks", "1363"], "1,363 tasks: the source by default of game24 has 1,362"),
        (["--task", HAND, "--task", "8 8 7 4"], "given twice"),
        (["--task", HAND, "--domain", "game42"], "Did you mean 'game24'?"),
        (["--task", HAND, "--controller", "lat"], "Did you mean 'lats'?"),
        (["--task", HAND, "--profile", "paperlike"], "Did you mean 'paper-like'?"),
        (["--task", HAND, "--profile", "no/such.toml"], "cannot be read"),
        (["--task", HAND, "--model", "gpt"], "none of simulated, local"),
        (["--task", HAND, "--set", "m=3"], "setting of lats"),
        (["--task", HAND, "--set", "n=0"], "--set n: a whole number 1 or more, not 0"),
        (["--task", HAND, "--set", "n=2.5"], "a whole number"),
        (["--task", HAND, "--set", "w=nan"], "a number 0 or more"),
        (["--task", HAND, "--set", "lam=2"], "from 0 to 1"),
        (["--task", HAND, "--set", "n"], "KEY=VALUE"),
        (["--task", HAND, "--set", "n=3", "--set", "n=4"], "given twice"),
        (["--task", HAND, "--controller", "uct", "--set", "rollout=greddy"], "Did you mean 'greedy'?"),
        (["--task", HAND, "--controller", "toolchain", "--set", "memory=x"], "setting of toolchain"),
        (["--task", HAND, "--margin", "-3"], "0 or more"),
        (["--task", HAND, "--margin", "x"], "0 or more"),
        (["--task", HAND, "--margin", "nan"], "0 or more"),
        (["--task", HAND, "--margin", "3", "--arm", "native"], "--arm shadow"),
        (["--task", HAND, "--arm", "paccf"], "needs a margin"),
        (["--task", HAND, "--margin", "3", "--certificate", "c.json"], "not both"),
        (["--task", HAND, "--certificate", "none.json"], "cannot read none.json"),
        (["--task", HAND, "--override", "why"], "--certificate"),
        (["--task", HAND, "--budget", "0"], "--budget"),
        (["--task", HAND, "--repeats", "0"], "--repeats"),
    ],
)
def test_bad_input_is_a_sentence(args: list[str], said: str) -> None:
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_hostile_text_stays_visible_text() -> None:
    evil = Action("k\x1b[2J", "go\x1b]0;x\x07\u202e")
    frontier = Frontier((evil.key,), "child", (evil, evil), ((1.0,), None), (1.0, None), (0, 1), (0, 1), None, (0, 1))
    shown = click.unstyle("\n".join(lines(frontier, Arm(), 9, 80)))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert "unscored, so it is kept" in shown
    assert "\x1b[2J" not in run("--task", "4\x1b[2J").output


def test_reasons() -> None:
    actions = tuple(Action(str(i), str(i)) for i in range(5))
    scores = (90.0, 60.0, 28.0, 10.0, 80.0)
    frontier = Frontier((), "pre", actions, tuple((s,) for s in scores), scores, (0, 1, 2, 4), (0, 1, 2), (0, 1, 4), ())
    gap = ScoreGap(30)
    said = [reason(frontier, Arm("paccf", gap), i) for i in range(5)]
    assert said[0] == said[1] == ""
    assert said[2] == "deficit 62 > 30"
    assert said[3].startswith("ineligible")
    assert said[4] == "the native rule would drop it"
    assert reason(frontier, Arm("shadow", gap), 2) == "would drop: deficit 62 > 30"
    assert reason(frontier, Arm("shadow", gap), 4) == "native rule; the margin would keep it"


def test_fingerprints_tell_systems_apart_and_seeds_not() -> None:
    one = fingerprint(Toy(), "lats", Lats(), Scoring(), "m", "p")
    assert one == fingerprint(Toy(), "lats", Lats(), Scoring(), "m", "p")
    assert one["config"] == "n=5,w=1.0,lam=0.5,trajectories=50,notes=3"
    for field, other in (
        ("world", fingerprint(Toy(horizon=5), "lats", Lats(), Scoring(), "m", "p")),
        ("prompts", fingerprint(Toy(), "lats", Lats(), Scoring(), "m", "q")),
        ("config", fingerprint(Toy(), "lats", Lats(n=4), Scoring(), "m", "p")),
        ("scoring", fingerprint(Toy(), "lats", Lats(), Scoring(repeats=2), "m", "p")),
        ("model", fingerprint(Toy(), "lats", Lats(), Scoring(), "n", "p")),
    ):
        assert [key for key in one if one[key] != other[key]] == [field]
    assert fingerprint(Game24(), "lats", Lats(), Scoring(), "m", "p")["world"] == "default"


def test_labels_are_one_list_a_frontier() -> None:
    task = task_of(HAND)
    for name in CONTROLLERS:
        for budget in (0, 7, 100):
            trace = drive(search(task, Game24(), controller(name), budget=budget), simulated("game24", "paper-like", 0))
            labels = protected(trace, oracle_of("game24"))
            assert [len(row) for row in labels] == [len(f.actions) for f in trace.frontiers]


def test_it_needs_no_lab_and_the_help_teaches() -> None:
    code = (
        "import sys; sys.modules['scipy'] = sys.modules['matplotlib'] = None\n"
        "from paccf.cli import main; main(['search', '--task', '4 7 8 8'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "SIMULATED" in done.stdout
    text = run("--help").output
    for part in ("--certificate", "shadow", "paccf search --task", "Exit codes"):
        assert part in text


def test_what_has_to_be_said_goes_with_the_log(tmp_path: Path) -> None:
    """A log of leaking searches says so wherever it goes, and so does one of the simulated model."""
    log, margin = str(tmp_path / "log.jsonl"), str(tmp_path / "margin.json")
    leaking = ["--domain", "gta", "--world", "tools=declared", "--tasks", "3", "--budget", "10", "--no-tree"]
    assert run(*leaking, "--log", log).exit_code == 0
    for args in (["calibrate", log, "-o", margin], ["coverage", log, margin], ["what-if", log], ["audit", log]):
        said = CliRunner().invoke(main, args).output
        assert "which gives away the recorded plan's tools: a leak" in said, args
        assert "the model is SIMULATED, seeded with gold" in said, args
    assert run("--tasks", "2", "--budget", "5", "--no-tree", "--log", str(tmp_path / "o.jsonl")).exit_code == 0
    said = CliRunner().invoke(main, ["calibrate", str(tmp_path / "o.jsonl")]).output
    assert "Note: the model is SIMULATED\n" in said
    assert "leak" not in said
