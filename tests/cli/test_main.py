"""What all commands have in common: how loud they are, the version, completion, exit codes, a page of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from paccf._version import __version__
from paccf.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its full name."""
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)  # type: ignore[attr-defined]
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", each) for sub, each in command.commands.items())
        else:
            yield name, command


def test_every_command_has_the_same_names_for_the_same_things() -> None:
    one_name = {"--out": "--output", "--force-override": "--override", "--format-json": "--json", "--n": "-n"}
    for name, command in leaves():
        options = [option for parameter in command.params for option in parameter.opts]
        assert len(options) == len(set(options)), name
        assert {"--quiet", "--verbose"} <= set(options), name
        assert not one_name.keys() & set(options), name
        assert ("-o" in options) == ("--output" in options), f"{name}: -o is --output everywhere"
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.opts} has no help"
        assert re.search(r"^ *Examples?[:.]", command.help or "", re.M), f"{name} has no example"
        if name not in ("models install", "spec new", "spec schema", "completion"):  # nothing to read, or JSON anyway
            assert "--json" in options, name


def test_help_groups_all_commands_and_each_once() -> None:
    said = CliRunner().invoke(main, ["--help"]).output
    for name, (_, line) in COMMANDS.items():
        assert len(re.findall(rf"^  {name} +{line[:30]}", said, re.M)) == 1, name
    assert "In your own search:" in said


def test_quiet_and_verbose_may_come_first() -> None:
    before = CliRunner().invoke(main, ["--verbose", "spec", "check", "smoke"])
    assert before.exit_code == 0
    assert re.search(r"\d s, [\d,]+ MB at most", before.stderr)


def test_what_cannot_be_written_names_the_remedy(tmp_path: Path) -> None:
    log, there = tmp_path / "log.jsonl", tmp_path / "there.toml"
    log.write_text('{"task": "a", "frontier": "0", "scores": [1, 2], "protected": [true, false]}\n')
    there.write_text("")
    for command, remedy in (
        (["calibrate", str(log), "-o", str(tmp_path / "no" / "margin.json")], "there is no folder"),
        (["spec", "new", "demo", "-o", str(there)], "is there already"),
        (["coverage", str(log), str(log)], "`paccf calibrate LOG -o margin.json` writes one"),
    ):
        refused = CliRunner().invoke(main, command)
        assert refused.exit_code == 2, command
        assert remedy in refused.output, refused.output


def test_the_page_of_commands_names_them_all() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    named = re.findall(r"^\| `paccf ([a-z-]+)`", page, re.M)
    assert named == list(COMMANDS)


def test_version_is_what_a_bug_report_needs() -> None:
    said = CliRunner().invoke(main, ["--version"]).output
    assert said.startswith(f"paccf {__version__}")
    for part in ("python 3.", "sqlite 3.", "numpy ", "extras: "):
        assert part in said
    assert "://" not in said


def test_quiet_leaves_errors_and_results(tmp_path: Path) -> None:
    loud = CliRunner().invoke(main, ["run", "smoke", "-o", str(tmp_path / "a"), "--set", "calibration.tasks=19"])
    calm = CliRunner().invoke(
        main, ["run", "smoke", "-o", str(tmp_path / "b"), "--set", "calibration.tasks=19", "--quiet"]
    )
    assert loud.exit_code == calm.exit_code == 0, calm.output
    assert "requests of" in loud.stderr
    assert calm.stderr == ""
    assert calm.stdout.replace(str(tmp_path / "b"), "") == loud.stdout.replace(str(tmp_path / "a"), "")
    assert "no such" in CliRunner().invoke(main, ["calibrate", "nowhere.jsonl", "--quiet"]).stderr.lower()


def test_verbose_shows_where_an_error_came_from_and_what_it_took() -> None:
    plain = CliRunner().invoke(main, ["calibrate", "no\x1b[31mwhere"])
    told = CliRunner().invoke(main, ["calibrate", "no\x1b[31mwhere", "--verbose"])
    assert plain.exit_code == told.exit_code == 2
    assert "Traceback" not in plain.output
    assert "Traceback" in told.stderr
    assert re.search(r"^\d+\.\d\d s", told.stderr, re.M)
    assert "\x1b" not in told.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_PACCF_COMPLETE" in result.output
    refused = CliRunner().invoke(main, ["completion"], env={"SHELL": "/bin/tcsh"})
    assert refused.exit_code == 2
    assert "tcsh" in refused.output


def test_completion_completes_in_a_shell() -> None:
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]

    def completed(line: str) -> list[str]:
        words = line.split(" ")
        env = {"PATH": path, "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_PACCF_COMPLETE": "bash_complete"}
        done = subprocess.run(["paccf"], env=os.environ | env, capture_output=True, text=True, check=True)
        return [each.partition(",")[2] for each in done.stdout.splitlines()]

    assert completed("paccf ca") == ["calibrate"]
    assert completed("paccf ") == list(COMMANDS)
    assert "--confidence" in completed("paccf calibrate --con")
    assert "verify" in completed("paccf certificate ")


def test_ctrl_c_is_exit_code_130(tmp_path: Path) -> None:
    """A command that waits for its input ends at once, without a traceback."""
    waiting = subprocess.Popen(
        [sys.executable, "-m", "paccf", "calibrate", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(1.5)
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=20)
    assert waiting.returncode == 130
    assert "Traceback" not in said


def test_every_command_is_a_file_of_its_name() -> None:
    for name, (module, line) in COMMANDS.items():
        assert module == name.replace("-", "_") + "_" * (name == "import")  # which Python keeps for itself
        assert line.endswith(".")
        assert import_module(f"paccf.cli.{module}").command is not None


def test_a_reader_that_stops_is_no_failed_check() -> None:
    """`paccf published show macro_main | head -n 1` under pipefail: neither 1 nor 2, and no traceback."""
    program = subprocess.Popen(
        [sys.executable, "-m", "paccf", "published", "check", "--all"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    said = program.stderr.read()
    program.stderr.close()
    assert program.wait(60) == 141
    assert said == b""


def test_a_margin_that_is_replaced_is_told_of(tmp_path: Path) -> None:
    log, margin = tmp_path / "log.jsonl", tmp_path / "margin.json"
    log.write_text('{"task": "a", "frontier": "0", "scores": [1, 2], "protected": [true, false]}\n')

    def remarks(*options: str) -> str:
        done = CliRunner().invoke(main, ["calibrate", str(log), "-o", str(margin), *options])
        assert done.exit_code == 0, done.output
        return done.stderr

    assert remarks("-q", "0.5") == ""
    assert remarks("-q", "0.5") == "", "the same again"
    assert "is replaced; its margin was 1 at Q = 0.5" in remarks("-q", "0.9")
    assert "its margin was infinite at Q = 0.9" in remarks("-q", "0.5")
    assert remarks("-q", "0.9", "--quiet") == ""
    margin.write_text("no certificate")
    assert remarks("-q", "0.5") == ""
