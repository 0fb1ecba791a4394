"""The commands of the method, as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from paccf import Gate
from paccf.cli import COMMANDS, main
from paccf.theory.frontiers import simulate_frontiers


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, args, input=stdin)


def as_json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


def write(path: Path, frontiers: Any) -> str:
    path.write_text("".join(json.dumps(f) + "\n" for f in frontiers))
    return str(path)


def frontier(task: str, scores: list[Any], protected: list[bool | None], name: str = "root") -> dict[str, Any]:
    return {"task": task, "frontier": name, "scores": scores, "protected": protected}


@pytest.fixture
def train(tmp_path: Path) -> str:
    return write(tmp_path / "train.jsonl", simulate_frontiers(120, seed=1))


@pytest.fixture
def margin(tmp_path: Path, train: str) -> str:
    path = str(tmp_path / "margin.json")
    run("calibrate", train, "-o", path, "--match", "domain=d", "--budget", "100", "--labels", "oracle")
    return path


def test_calibrate_says_what_was_found_and_promised(train: str, tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    result = run("calibrate", train, "-o", str(out), "--labels", "oracle")
    assert result.exit_code == 0, result.output
    for part in ("120 tasks", "exposed", "missing", "margin", "rank", "promised", "not ", "confidence", f"Wrote {out}"):
        assert part in result.output
    found = as_json(run("calibrate", train, "--json"))
    wanted = {"margin", "feasible", "need_n", "n", "k", "bound", "exposed", "missing", "unresolved", "confidence"}
    assert wanted <= set(found)
    assert found["n"] == found["exposed"] == 120 - found["missing"]
    assert found["k"] == -(-(found["n"] + 1) * 19 // 20)
    assert found["bound"] == pytest.approx(1 - found["k"] / (found["n"] + 1))
    assert found["observations"] == 4
    assert json.loads(out.read_text())["margin"] == found["margin"]


def test_infeasible_is_a_result_with_a_remedy(tmp_path: Path) -> None:
    log = write(tmp_path / "few.jsonl", simulate_frontiers(12, seed=1))
    found = as_json(run("calibrate", log, "--json"))
    assert (found["margin"], found["feasible"], found["need_n"], found["bound"]) == (None, False, 19, 0.0)
    text = run("calibrate", log).output
    assert "infinite: keep everything" in text
    assert f"Log {19 - found['n']} more exposed tasks" in text


def test_pac_margins_and_the_sample_maximum(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", simulate_frontiers(66, seed=2))
    found = as_json(run("calibrate", log, "--json", "--confidence", "0.9"))
    assert (found["rule"], found["delta"]) == ("pac", 0.1)
    assert found["confidence"] >= 0.9
    assert found["at_maximum"] == (found["k"] == found["n"])
    few = write(tmp_path / "few.jsonl", simulate_frontiers(30, seed=2))
    assert "the margin is the largest calibration score" in run("calibrate", few).output


def test_unresolved_labels(tmp_path: Path) -> None:
    frontiers = list(simulate_frontiers(40, seed=4))
    for f in frontiers:
        if f["task"] in ("t-0003", "t-0007"):
            f["protected"] = [None] * len(f["scores"])
    found = as_json(run("calibrate", write(tmp_path / "l.jsonl", frontiers), "--json"))
    assert found["unresolved"] == 2
    assert found["margin"] is None, "the rank falls on an unresolved task"
    assert "falls on an unresolved task" in run("calibrate", str(tmp_path / "l.jsonl")).output
    found = as_json(run("calibrate", str(tmp_path / "l.jsonl"), "-q", "0.8", "--json"))
    assert found["margin"] is not None


def test_logs_can_be_parted_and_packed(tmp_path: Path, train: str) -> None:
    import gzip

    whole = as_json(run("calibrate", train, "--json"))
    lines = Path(train).read_bytes().splitlines(keepends=True)
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    first.write_bytes(b"".join(lines[::2]))
    second.write_bytes(gzip.compress(b"".join(lines[1::2])))
    assert as_json(run("calibrate", str(first), str(second), "--json")) == whole
    assert as_json(run("calibrate", "-", "--json", stdin=b"".join(lines).decode())) == whole


def test_coverage_on_held_out_logs(tmp_path: Path, margin: str) -> None:
    held = write(tmp_path / "test.jsonl", simulate_frontiers(80, seed=1, first=1000))
    picture = tmp_path / "sweep.svg"
    result = run("coverage", held, margin, "--plot", str(picture))
    assert result.exit_code == 0, result.output
    for part in (
        "task coverage",
        "95 % interval",
        "beta-binomial",
        "candidate pruning",
        "Fisher",
        "<- frozen",
        "proxy",
    ):
        assert part in result.output
    first = picture.read_bytes()
    assert first.startswith(b"<?xml")
    run("coverage", held, margin, "--plot", str(picture))
    assert picture.read_bytes() == first, "the same data, the same bytes"
    found = as_json(run("coverage", held, margin, "--json"))
    assert found["covered"] / found["denominator"] == found["coverage"] > 0.8
    assert found["sweep"][-1][1] == found["denominator"]
    assert found["sweep"][-1][2] == 0


def test_gate_wants_as_many_draws_as_the_calibration(margin: str) -> None:
    lines = ['{"scores": [[90, 90, 90, 90], null]}', '{"scores": [1, [90, 90]]}', '{"scores": [1, 2]}']
    refused = run("gate", margin, stdin="\n".join(lines))
    assert refused.exit_code == 2
    assert "-, line 2, scores[1]: 2 observations, but the margin was calibrated with 4. Ask as often" in refused.output
    answers = [
        json.loads(line) for line in run("gate", margin, "--skip-bad", stdin="\n".join(lines)).stdout.split("\n")[:-1]
    ]
    assert [list(answer) for answer in answers] == [["kept", "dropped"], ["error", "line"], ["kept", "dropped"]]
    assert answers[1]["line"] == 2


@pytest.mark.parametrize(("tasks", "confidence", "free"), [(20, None, 39), (38, None, 39), (50, "0.9", 77)])
def test_the_note_on_the_sample_maximum_counts_the_tasks_that_free_it(
    tmp_path: Path, tasks: int, confidence: str | None, free: int
) -> None:
    log = write(tmp_path / "log.jsonl", [frontier(f"t{i}", [90, i], [False, True]) for i in range(tasks)])
    options = [] if confidence is None else ["--confidence", confidence]
    assert f"; {free - tasks} more exposed tasks would free it" in run("calibrate", log, *options).output
    more = write(tmp_path / "more.jsonl", [frontier(f"t{i}", [90, i], [False, True]) for i in range(free)])
    assert not as_json(run("calibrate", more, *options, "--json"))["at_maximum"]


def test_coverage_says_what_unresolved_labels_leave_open(tmp_path: Path, margin: str) -> None:
    """Lost in the worst case; left out; covered if one is lucky: every reading with its denominator."""
    rows = [frontier(f"t{i}", [90, 80 - i], [True, False]) for i in range(10)]
    rows += [frontier("open", [90, 80], [None, False]), frontier("lost", [90, 0], [False, True])]
    rows += [frontier("lost", [90, 0], [False, None], "below")]
    log = write(tmp_path / "open.jsonl", rows)
    out = run("coverage", log, margin).output
    assert "10/12 = 83.33 % exposed tasks" in out
    assert "with 1 unresolved tasks as lost" in out
    assert "10/11 = 90.91 % without these, if they were all covered 11/12 = 91.67 %" in out
    found = json.loads(run("coverage", log, margin, "--json").stdout)
    assert (found["coverage"], found["open"], found["coverage_resolved"]) == (10 / 12, 1, 10 / 11)
    low = write(tmp_path / "low.jsonl", [frontier(f"t{i}", [9, 8], [None, False]) for i in range(12)])
    result = run("coverage", low, margin)
    assert result.exit_code == 1
    assert "a coverage this low, with 12 unresolved tasks as lost, is not explained by chance" in result.output


def test_coverage_says_what_was_not_compared(train: str, tmp_path: Path) -> None:
    out = str(tmp_path / "matched.json")
    run("calibrate", train, "--match", "domain=toy", "--budget", "9", "-o", out)
    said = "not compared, since --match or --budget do not say it: "
    assert said + "domain=toy, budget <= 9" in run("coverage", train, out).output
    assert said + "domain=toy" in run("coverage", train, out, "--budget", "9").output
    assert said + "budget <= 9" in run("coverage", train, out, "--match", "domain=toy").output
    assert said not in run("coverage", train, out, "--match", "domain=toy", "--budget", "8").output


def test_coverage_warns(tmp_path: Path, train: str, margin: str) -> None:
    assert "are in the calibration sample too" in run("coverage", train, margin).output
    other = [
        f | {"protected": [False] * len(f["scores"])} if i % 2 else f
        for i, f in enumerate(simulate_frontiers(200, seed=9))
    ]
    assert "exposure differs" in run("coverage", write(tmp_path / "o.jsonl", other), margin).output


def test_gate_decides_line_by_line(margin: str) -> None:
    """As a process at the other end of a pipe: each answer comes before the next question is asked."""
    process = subprocess.Popen(
        [sys.executable, "-m", "paccf", "gate", margin],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for i in range(3):
        process.stdin.write(json.dumps({"task": "t", "frontier": str(i), "scores": [90, 1, None]}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {
            "task": "t",
            "frontier": str(i),
            "kept": [0, 2],
            "dropped": [1],
        }
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


def test_gate_options(margin: str) -> None:
    line = '{"scores": [90, 1, 85], "candidates": ["a", "b", "c"], "eligible": [true, true, false]}\n'
    decided = json.loads(run("gate", margin, "--explain", stdin=line).stdout)
    assert (decided["kept"], decided["candidates"]) == ([0], ["a"])
    assert [v["reason"].split()[0] for v in decided["verdicts"]] == ["the", "beyond"]
    shadow = json.loads(run("gate", margin, "--shadow", stdin=line).stdout)
    assert (shadow["kept"], shadow["dropped"], shadow["would_drop"]) == ([0, 1], [], [1])
    refused = run("gate", margin, "--match", "domain=other", stdin=line)
    assert refused.exit_code == 2
    assert "domain: calibrated for 'd', deployed on 'other'" in refused.output
    assert run("gate", margin, "--budget", "101", stdin=line).exit_code == 2
    carried = json.loads(run("gate", margin, "--budget", "101", "--override", "a test", stdin=line).stdout)
    assert "overridden: a test" in carried["overrides"][0]
    bad = run("gate", margin, stdin=line + "oops\n" + line)
    assert bad.exit_code == 2
    assert "line 2" in bad.stderr
    assert len(bad.stdout.splitlines()) == 1
    skipped = run("gate", margin, "--skip-bad", stdin=line + "oops\n" + line)
    answers = [json.loads(text) for text in skipped.stdout.splitlines()]
    assert [sorted(a)[0] for a in answers] == ["candidates", "error", "candidates"], "a line for every line"
    assert answers[1]["line"] == 2


def test_bare_means_of_more_decimals_than_count_are_told(tmp_path: Path) -> None:
    """As means of three draws a candidate exactly at the margin is kept; as numbers of six decimals it may be lost."""
    log = write(tmp_path / "thirds.jsonl", [frontier(f"t{i}", [80 + 1 / 3, 80.0], [False, True]) for i in range(20)])
    out = str(tmp_path / "m.json")
    told = "bare scores have more than six decimals and are rounded"
    found = as_json(run("calibrate", log, "-o", out, "--json"))
    assert found["margin_exact"] == "0.333333"
    assert any(told in note and "--observations R" in note for note in found["notes"])
    assert any(told in note for note in as_json(run("coverage", log, out, "--json"))["notes"])
    assert (
        "bare scores are no means of 2 draws with six decimals" in run("calibrate", log, "--observations", "2").output
    )
    assert "decimals" not in run("calibrate", log, "--observations", "3", "-o", out).output
    assert "decimals" not in run("coverage", log, out).output


def test_gate_says_once_what_it_did_not_compare(margin: str) -> None:
    lines = '{"scores": [90, 1]}\n' * 3
    note = "Note: not compared, since --match or --budget do not say it: "
    assert run("gate", margin, stdin=lines).stderr == f"{note}domain=d, budget <= 100\n"
    assert run("gate", margin, "--match", "domain=d", stdin=lines).stderr == f"{note}budget <= 100\n"
    assert run("gate", margin, "--budget", "50", stdin=lines).stderr == f"{note}domain=d\n"
    for options in (["--quiet"], ["--match", "domain=d", "--budget", "100"]):
        assert run("gate", margin, *options, stdin=lines).stderr == ""
    assert Gate.load(margin).not_compared == ["domain=d", "budget <= 100"]
    assert Gate.load(margin, matched_to={"domain": "d"}, budget=9).not_compared == []


def test_certificates_are_shown_and_verified(margin: str) -> None:
    shown = run("certificate", "show", margin)
    assert shown.exit_code == 0
    assert "domain=d, budget <= 100" in shown.output
    assert as_json(run("certificate", "show", margin, "--json"))["digest"].startswith("sha256:")
    assert as_json(run("certificate", "verify", margin, "--json"))["sound"] is True
    text = Path(margin).read_text()
    Path(margin).write_text(text.replace('"k": ', '"k": 1'))
    broken = run("certificate", "verify", margin)
    assert broken.exit_code == 1
    assert "changed after it was frozen" in broken.stderr
    assert run("certificate", "show", margin).exit_code == 2
    assert json.loads(run("certificate", "verify", margin, "--json").stdout)["sound"] is False


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["calibrate", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["calibrate", "."], "cannot read ."),
        (["calibrate", "{train}", "-q", "1.5"], "strictly between 0 and 1"),
        (["calibrate", "{train}", "-q", "abc"], "not a finite number"),
        (["calibrate", "{train}", "--confidence", "1"], "strictly between 0 and 1"),
        (["calibrate", "{train}", "--epsilon", "-1"], "epsilon must not be negative"),
        (["calibrate", "{train}", "--match", "novalue"], "KEY=VALUE"),
        (["calibrate", "{train}", "--match", "a=1", "--match", "a=2"], "given twice"),
        (["calibrate", "{train}", "-o", "nowhere/m.json"], "cannot write nowhere/m.json"),
        (["calibrate", "{train}", "{train}"], "was there before|same log twice"),
        (["calibrate", "{empty}"], "no usable frontier"),
        (["calibrate", "{bad}"], "line 1, line"),
        (["calibrate"], "Missing argument"),
        (["coverage", "{train}"], "at least one log and then the certificate"),
        (["coverage", "{train}", "{bad}"], "not a certificate"),
        (["coverage", "{train}", "nowhere.json"], "cannot read nowhere.json"),
        (["coverage", "{train}", "{margin}", "--plot", "x.bmpp"], "cannot draw"),
        (["coverage", "{hidden}", "{margin}"], "nothing to cover"),
        (["gate", "nowhere.json"], "cannot read"),
        (["gate", "{bad}"], "not a certificate"),
        (["calibrat", "x"], "Did you mean 'calibrate'"),
        (["zzz"], "lists the commands"),
    ],
)
def test_bad_input_is_exit_code_2(args: list[str], said: str, train: str, margin: str, tmp_path: Path) -> None:
    import re

    names = {"train": train, "margin": margin}
    for name, text in {
        "empty": "\n",
        "bad": "\x1b[31mnot json\n",
        "hidden": '{"task": "a", "frontier": "b", "scores": [1], "protected": [false]}\n',
    }.items():
        (tmp_path / name).write_text(text)
        names[name] = str(tmp_path / name)
    before = sorted(os.listdir(tmp_path))
    result = run(*(a.format(**names) for a in args))
    assert result.exit_code == 2
    assert re.search(said, result.output), result.output
    assert "\x1b" not in result.output
    assert "Traceback" not in result.output
    assert sorted(os.listdir(tmp_path)) == before, "nothing is half-written"


def test_skipped_lines_are_counted_and_named(tmp_path: Path, train: str) -> None:
    clean = as_json(run("calibrate", train, "--json"))
    dirty = tmp_path / "dirty.jsonl"
    dirty.write_bytes(b'{"\\u001b[2J": 1}\n' + Path(train).read_bytes() + b"half a li")
    found = as_json(run("calibrate", str(dirty), "--skip-bad", "--json"))
    assert found["skipped"] == 2
    assert {k: v for k, v in found.items() if k not in ("skipped", "notes")} == {
        k: v for k, v in clean.items() if k not in ("skipped", "notes")
    }
    assert "line 1, \\x1b[2J: unknown field" in " ".join(found["notes"])
    assert "\x1b" not in run("calibrate", str(dirty), "--skip-bad").output


def test_every_command_teaches() -> None:
    for name in COMMANDS:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert "xample" in result.output, f"{name} --help has no example"


def test_help_imports_nothing_heavy() -> None:
    """Start-up is guarded by what is imported; times are measured in benchmarks/."""
    code = "import sys\nfrom paccf.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {"numpy", "msgspec", "scipy", "matplotlib", "hypothesis", "asyncio", "fractions", "decimal"}
    assert not heavy & {m.partition(".")[0] for m in out.splitlines()[-1].split()}


def test_missing_extras_are_a_sentence(tmp_path: Path, train: str, margin: str) -> None:
    """Without the lab extra the method works, and what needs it says what to install."""
    block = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('scipy', 'matplotlib'):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from paccf.cli import main\n"
        "main(sys.argv[1:])\n"
    )

    def bare(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", block, *args], capture_output=True, text=True, cwd=tmp_path)

    assert bare("calibrate", train, "-o", "m.json").returncode == 0
    assert bare("coverage", train, "m.json").returncode == 0
    assert bare("published", "check").returncode == 0
    assert bare("theory", "frontiers", "--tasks", "2").returncode == 0
    for args in (["coverage", train, margin, "--plot", "x.svg"], ["theory", "samples"]):
        result = bare(*args)
        assert result.returncode == 2
        assert 'pip install "paccf[lab]"' in result.stderr
        assert "Traceback" not in result.stderr


def test_one_r_for_calibration_gate_and_coverage(tmp_path: Path) -> None:
    """A bare mean beside lists is read alike everywhere, or refused."""
    rows = [
        {"task": f"t{i}", "frontier": "0", "scores": [[79, 79, 79], 26.666666666666668], "protected": [False, True]}
        for i in range(40)
    ]
    log, out = write(tmp_path / "mixed.jsonl", rows), str(tmp_path / "m.json")
    refused = run("calibrate", log)
    assert refused.exit_code == 2
    assert "say with --observations" in refused.output
    found = as_json(run("calibrate", log, "--observations", "3", "-o", out, "--json"))
    assert (found["observations"], found["margin_exact"]) == (3, "157/3")
    assert as_json(run("coverage", log, out, "--json"))["coverage"] == 1.0
    line = json.dumps({"scores": [[79, 79, 79], 26.666666666666668]})
    assert json.loads(run("gate", out, stdin=line).stdout)["kept"] == [0, 1]
    varied = as_json(run("calibrate", log, "--observations", "4", "--json"))
    assert varied["observations"] is None
    assert any("3, 4 observations" in note for note in varied["notes"])
    other = [f | {"scores": [[79, 79], [79, 70]]} for f in rows]
    assert "another law" in run("coverage", write(tmp_path / "r2.jsonl", other), out).output


def test_fractions_are_as_good_as_decimals(train: str, tmp_path: Path) -> None:
    out = str(tmp_path / "m.json")
    result = run("calibrate", train, "-q", "2/3", "--epsilon", "1/3", "--confidence", "2/3", "-o", out)
    assert result.exit_code == 0, result.output
    assert "at Q = 2/3" in result.output
    assert "+ epsilon 1/3" in result.output
    assert run("certificate", "show", out).exit_code == 0
    assert run("coverage", train, out).exit_code == 0
    assert as_json(run("calibrate", train, "-q", "2/3", "--json"))["q"] == pytest.approx(2 / 3)
    for huge in ("1e99999999", "0." + "9" * 200):
        refused = run("calibrate", train, "-q", huge)
        assert refused.exit_code == 2
    assert as_json(run("calibrate", train, "-q", "0.99999999", "--confidence", "0.9", "--json"))["need_n"] == 230258509


def test_what_must_not_be_overwritten(train: str, tmp_path: Path) -> None:
    before = Path(train).read_bytes()
    assert run("calibrate", train, "-o", train).exit_code == 2
    assert Path(train).read_bytes() == before
    assert run("calibrate", train, "-o", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    assert run("calibrate", train, "-o", str(link)).exit_code == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["schema"] == "paccf.certificate/1"


def test_foreign_text_cannot_pass_for_ours(train: str, tmp_path: Path) -> None:
    out = str(tmp_path / "m.json")
    result = run("calibrate", train, "--match", "a=b\npromised  everything \u202e\u2028\x1b[31m", "-o", out)
    assert not any(text.startswith("promised  everything") for text in result.output.splitlines())
    assert not set("\u202e\u2028\x1b") & set(result.output)
    assert not set("\u202e\u2028\x1b") & set(run("certificate", "show", out).output)
    evil = write(
        tmp_path / "evil.jsonl",
        [{"task": "t", "frontier": "f\nNote: all is well", "scores": [1], "protected": [True]}] * 2,
    )
    assert "\nNote: all is well" not in run("calibrate", evil).output
    picture = str(tmp_path / "p.svg")
    assert run("calibrate", train, "--match", "a=$\\frac{$", "-o", out).exit_code == 0
    assert run("coverage", train, out, "--plot", picture).exit_code == 0, "a title is not mathematics"


def test_coverage_compares_and_fails(train: str, margin: str, tmp_path: Path) -> None:
    assert "deployed on 'x'" in run("coverage", train, margin, "--match", "domain=x").output
    assert run("coverage", train, margin, "--budget", "101").exit_code == 2
    held = run("coverage", train, margin, "--budget", "101", "--override", "why not", "--json")
    assert any("why not" in note for note in json.loads(held.stdout)["notes"])
    harder = [f | {"scores": [[100 - y for y in s] for s in f["scores"]]} for f in simulate_frontiers(150, seed=5)]
    low = run("coverage", write(tmp_path / "h.jsonl", harder), margin)
    assert low.exit_code == 1
    assert "not explained by chance" in low.output


def test_epsilon_counts_in_coverage(tmp_path: Path) -> None:
    rows = [{"task": f"t{i}", "frontier": "0", "scores": [30, 10], "protected": [False, True]} for i in range(40)]
    wider = [f | {"scores": [31, 10]} for f in rows]
    log, new, out = write(tmp_path / "a", rows), write(tmp_path / "b", wider), str(tmp_path / "m.json")
    for epsilon, covered in (("0", 0), ("1", 40)):
        run("calibrate", log, "--epsilon", epsilon, "-o", out)
        found = json.loads(run("coverage", new, out, "--json").stdout)
        assert (found["covered"], found["theta"]) == (covered, 20 + int(epsilon))
        assert [covered, found["pruned"]] == next(p[1:3] for p in found["sweep"] if p[0] == found["theta"])


def test_a_full_disk_is_a_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full:
        out = subprocess.run(
            [sys.executable, "-m", "paccf", "--version"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert out.returncode == 2
    assert "No space left" in out.stderr
    assert "Traceback" not in out.stderr
