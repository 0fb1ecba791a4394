"""Profiles: what comes with the package, and what is refused with which words."""

import os
import tomllib
from importlib.resources import files

import pytest

from paccf.domains.game24.tasks import solvable
from paccf.domains.game24.world import Game24
from paccf.models.simulated import Evaluator, ProfileError, Proposer, load, profiles, simulated
from paccf.models.simulated.profile import parse
from paccf.search.controllers import controller
from paccf.search.driver import run, search


def test_what_comes_with_the_package():
    assert {"clean", "paper-like", "useless"} <= set(profiles())
    for name in profiles():
        assert load(name).name == name
        assert load(name).about.endswith(".")


@pytest.mark.parametrize("name", profiles())
def test_every_field_is_there_with_its_meaning(name):
    text = files("paccf.models.simulated").joinpath("profiles", f"{name}.toml").read_text()
    found = tomllib.loads(text)
    assert set(found["proposer"]) == set(Proposer.__struct_fields__)
    assert set(Evaluator.__struct_fields__) <= set(found["evaluator"])
    own = text.split("[evaluator.")[0]
    assert all("#" in line for line in own.splitlines() if "=" in line and not line.startswith("about"))


@pytest.mark.parametrize(
    ("name", "solves"), [("uct", 76), ("toolchain", 65), ("lats", 67), ("tooltree", 6), ("levin", 43)]
)
def test_paper_like_solves_what_its_file_says(name, solves):
    """Of the 901st to 1,000th solvable hand, with 100 requests; three controllers only with PACCF_THOROUGH."""
    if name not in ("lats", "tooltree") and not os.environ.get("PACCF_THOROUGH"):
        pytest.skip("PACCF_THOROUGH is not set")
    model = simulated("game24", "paper-like", 0)
    traces = [run(search(task, Game24(), controller(name), budget=100), model) for task in solvable()[900:1000]]
    assert sum(trace.solved for trace in traces) == solves
    assert str(solves) in files("paccf.models.simulated").joinpath("profiles", "paper-like.toml").read_text()


def test_channels_replace_single_fields():
    profile = parse("x", "[evaluator]\nbias = 7\nnoise = 2.5\n[evaluator.post]\nbias = 1\n")
    assert profile.evaluator("child") == profile.evaluator("pre") == Evaluator(bias=7.0, noise=2.5)
    assert profile.evaluator("post") == Evaluator(bias=1.0, noise=2.5)
    assert profile.proposer == Proposer()
    assert parse("x", "").evaluator("pre") == Evaluator()


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[proposer]\ncount = 3\n")
    assert (load(str(path)).name, load(str(path)).proposer.count) == ("mine", 3)
    with pytest.raises(ProfileError, match=r"other\.toml: cannot be read"):
        load(str(tmp_path / "other.toml"))
    path.write_bytes(b"\xff")
    with pytest.raises(ProfileError, match="cannot be read"):
        load(str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bais = 1", "profile x: bais is unknown; known here are: about, proposer, evaluator"),
        (
            "[proposer]\nrecal = 1",
            "proposer.recal is unknown; known here are: count, favour, recall, illegal, unparsable",
        ),
        (
            "[evaluator]\nsigma = 1",
            "evaluator.sigma is unknown; known here are: signal, bias, noise, .*child, pre, post",
        ),
        (
            "[evaluator.child]\nL = 1",
            "evaluator.child.L is unknown; known here are: signal, bias, noise, position, malformed, lattice",
        ),
        ("[evaluator.sibling]\nbias = 1", "evaluator.sibling is unknown"),
        ("[evaluator]\nbias = -1", "evaluator: .*>= 0.*bias"),
        ("[evaluator]\nbias = nan", "evaluator.bias: nan is not finite"),
        ("[evaluator]\nbias = '7'", "evaluator: .*bias"),
        ("[evaluator.pre]\nlattice = 7", "evaluator.pre.lattice: 7 does not divide 100"),
        ("[proposer]\ncount = 0", "proposer: .*>= 1.*count"),
        ("[proposer]\nfavour = 0", "proposer: .*> 0.*favour"),
        ("[proposer]\nillegal = 0.6\nunparsable = 0.6", "together are over 1"),
        ("proposer = 3", r"proposer has to be a table, \[proposer\]"),
        ("[evaluator]\nchild = 3", r"evaluator.child has to be a table"),
        ("about = 3", "about: expected a text"),
        ("= =", "profile x: no TOML"),
    ],
)
def test_refusals(text, words):
    with pytest.raises(ProfileError, match=words):
        parse("x", text)


@pytest.mark.parametrize("name", ["perfect", "../clean", ""])
def test_unknown_names_list_the_known(name):
    with pytest.raises(ProfileError, match="known are: clean, .*paper-like, .*useless"):
        load(name)
