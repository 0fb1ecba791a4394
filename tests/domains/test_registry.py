"""Domains by name: what is there, what is refused, and what an entry point adds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paccf.domains import registry
from paccf.domains.oracles import oracle_of
from paccf.domains.registry import names, sample, task_of, world
from paccf.domains.versions import CHANNELS, prompts_of, version
from paccf.models.simulated import simulated, truth_of

each = pytest.mark.parametrize("name", names())


@each
def test_every_domain_is_whole(name: str) -> None:
    place = world(name)
    assert place.name == name
    assert place == world(name), "a world is a value"
    text, answer = sample(name)
    task = task_of(name, text)
    assert task == task_of(name, text)
    start = place.start(task)
    actions = place.read_proposals(task, start.state, answer).actions
    assert actions
    assert len(oracle_of(name).protected(task, start.state, actions)) == len(actions)
    assert 0 <= oracle_of(name).value(task, start.state, 0) <= 1
    assert truth_of(name).legal(task, start.state)
    assert all(isinstance(value, float) for value in place.metrics(task, actions[:1]).values())
    assert simulated(name, "clean", 0).name.startswith("SIMULATED")
    with pytest.raises(ValueError, match="no setting of"):
        world(name, no_such_setting=1)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(ValueError, match=r"there is no domain 'gam24'\. Did you mean 'game24'\? Known: .*game24"):
        world("gam24")
    with pytest.raises(ValueError, match="there is no domain 'chess'.* Known: .*game24"):
        oracle_of("chess")
    with pytest.raises(ValueError, match="there is no domain 'chess'"):
        truth_of("chess")
    with pytest.raises(ValueError, match="there is no setting of game24 called 'horizon'. Known: none"):
        world("game24", horizon=3)
    with pytest.raises(ValueError, match="the domain 'game24' has no chess: there is no module"):
        registry.part("game24", "chess")


@each
def test_the_version_of_prompts_changes_with_every_one_of_them(name: str) -> None:
    """Whichever prompt says something else, the version is another; whatever is asked alike keeps it."""
    place = world(name)
    text, answer = sample(name)
    task = task_of(name, text)
    known = prompts_of(place)
    assert known == prompts_of(world(name)) == version(place, task, answer)

    class Changed:
        def __init__(self, method: str, channel: str = "") -> None:
            self.method, self.channel = method, channel

        def __getattr__(self, attribute: str) -> object:
            original = getattr(place, attribute)
            if attribute != self.method:
                return original
            return lambda *a: original(*a) + "!" * (not self.channel or self.channel in a)

    changed = [Changed("propose"), Changed("reflect"), *[Changed("evaluate", channel) for channel in CHANNELS]]
    versions = [version(other, task, answer) for other in changed]  # type: ignore[arg-type]
    assert len({known, *versions}) == 6
    with pytest.raises(ValueError, match="proposes no legal action"):
        version(place, task, "nothing")


@each
def test_online_modules_load_nothing_that_knows_solutions(name: str) -> None:
    """At run time too, whatever is imported late: the world, its prompts and readers, the engine, the gate."""
    code = (
        "import sys\n"
        "from paccf import gate\n"
        "from paccf.domains.registry import sample, task_of, world\n"
        "from paccf.domains.versions import prompts_of\n"
        "from paccf.models import tape\n"
        "from paccf.search import driver, controllers\n"
        f"w = world({name!r}); text, answer = sample({name!r}); t = task_of({name!r}, text)\n"
        "prompts_of(w); s = w.start(t).state; a = w.read_proposals(t, s, answer).actions\n"
        "w.read_scores('[1]', 1); w.utility(t, a[:1]); w.metrics(t, a[:1]); w.solution(t, a[:1])\n"
        "bad = [m for m in sys.modules if m.rpartition('.')[2] in "
        "('oracle', 'oracles', 'tasks', 'truth', 'labels', 'sources', 'simulated') and m.startswith('paccf')]\n"
        "assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_package_of_somebody_else_is_found_by_its_entry_point(tmp_path: Path) -> None:
    folder = tmp_path / "coins"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "world.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Coins:\n"
        "    horizon: int = 2\n"
        "    name = 'coins'\n"
        "make = Coins\n"
    )
    (folder / "oracle.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Known:\n"
        "    rule: str = 'strict'\n"
        "make = Known\n"
    )
    info = tmp_path / "coins-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[paccf.domains]\ncoins = coins\n")
    code = (
        "import sys\n"
        "from paccf.domains.registry import names, world\n"
        "assert 'coins' in names() and 'coins' not in sys.modules\n"
        "assert world('coins', horizon=5).horizon == 5\n"
        "from paccf.domains.oracles import oracle_of\n"
        "assert oracle_of('coins', horizon=5, rule='loose').rule == 'loose'\n"
        "for call in (lambda: oracle_of('coins', horzion=5), lambda: world('coins', rule='loose')):\n"
        "    try: call()\n"
        "    except ValueError as error: print(error)\n"
    )
    path = [str(tmp_path), *[p for p in sys.path if p]]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r} + sys.path\n{code}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "there is no setting of coins called 'horzion'. Did you mean 'horizon'? Known: horizon, rule",
        "there is no setting of coins called 'rule'. Known: horizon",
    ]


def test_two_packages_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name, value = "game24", "elsewhere.game24"

    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry])
    registry.packages.cache_clear()
    with pytest.raises(ValueError, match="two packages call their domain 'game24'"):
        world("game24")
    monkeypatch.undo()
    registry.packages.cache_clear()
    assert "game24" in names()
