"""Where problems come from: drawn uniformly and the same every time, or PlanBench's, whole or refused with a place."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from paccf.domains.blocksworld.blocks import TABLE, facts, task_of, towers
from paccf.domains.blocksworld.oracle import distances, graph, make
from paccf.domains.blocksworld.strips import Atoms
from paccf.domains.blocksworld.tasks import FILES, MOST, arrangement, completions, drawn, irregular, joined
from paccf.domains.sources import digest_of, excluded, tasks

ORACLE = make()
GOOD = (
    "(define (problem BW-rand-4)\n(:domain blocksworld-4ops)\n(:objects a b c d )\n(:init\n(handempty)\n(ontable a)\n"
    "(on b c)\n(ontable c)\n(ontable d)\n(clear a)\n(clear b)\n(clear d)\n)\n(:goal\n(and\n(on c b))\n)\n)\n"
)


def test_generated_problems_are_all_different_and_always_the_same():
    made = tasks("blocksworld", "", "all", 0, 300)
    assert [task.id for task in made] == [task.id for task in tasks("blocksworld", "generated", "all", 0, 300)]
    assert len({task.id for task in made}) == 300
    assert digest_of(made) == "8d19cc1f14693382"
    assert {task.id for task in made} != {task.id for task in tasks("blocksworld", "", "all", 1, 300)}
    for task in made:
        assert task_of(task.id) == task, "an id says the whole problem"
        assert 0 < ORACLE.distance(task, task.data.init) <= 16
        assert {atom[0] for atom in task.data.goal} == {"on"}
    sizes = Counter(len(task.data.objects) for task in made)
    assert set(sizes) == {4, 5}
    assert 10 < sizes[5] < 70
    assert len({len(task.data.goal) for task in made}) > 2, "goals of one fact and of several"


def test_calibration_and_test_share_no_problem():
    one, other = (tasks("blocksworld", "generated", split, 3, 100) for split in ("calibration", "test"))
    assert not {task.id for task in one} & {task.id for task in other}


@pytest.mark.parametrize(("argument", "sizes"), [("3", {3}), ("3-6", {3, 4, 5, 6}), ("26", {26}), ("4-5", {4, 5})])
def test_other_numbers_of_blocks(argument: str, sizes: set[int]):
    made = tasks("blocksworld", f"generated:{argument}", "all", 0, 40)
    assert {len(task.data.objects) for task in made} == sizes


@pytest.mark.parametrize("argument", ["1", "27", "5-4", "x", "4-", "-4", "3-6-7", "999999999"])
def test_no_number_of_blocks(argument: str):
    with pytest.raises(ValueError, match="is no number of blocks: write one from 2 to 26"):
        tasks("blocksworld", f"generated:{argument}", "all", 0, 1)


def test_arrangements_are_counted_and_drawn_evenly():
    for count in range(1, 7):
        table_and_hand = (count, count + 1)
        free_handed = sum(table_and_hand[1] not in state for state in graph(count)[0])
        assert completions(count, 0) == free_handed
    draws = 73 * 200
    seen = Counter(tuple(sorted(arrangement("abcd", "a test", i).items())) for i in range(draws))
    assert len(seen) == completions(4, 0) == 73
    chi = sum((times - 200) ** 2 / 200 for times in seen.values())
    assert 35 < chi < 125, "chi-square with 72 degrees of freedom: 1 in 10,000 on either side"


def test_no_problem_of_five_blocks_is_longer_than_the_horizon():
    """So with H = 16 every generated and every PlanBench problem can be solved; and some need all of it. By symmetry
    one goal of a shape speaks for all."""
    starts = [facts_of(state) for state in graph(5)[0] if 6 not in state]
    shapes = {}
    for start in starts:
        place = {atom[1]: atom[2] for atom in start if atom[0] == "on"}
        shapes[tuple(sorted(map(len, towers(place))))] = frozenset(("on", *pair) for pair in place.items())
    longest = [max(map(distances(tuple("abcde"), goal).of, starts)) for goal in shapes.values() if goal]
    assert len(longest) == 6, "5, 4, 3+2, 3, 2+2, 2 blocks in towers of two and more"
    assert max(longest) == 16
    assert drawn(MOST, MOST, 0, 0).id


def facts_of(state: bytes) -> Atoms:
    return facts({"abcde"[i]: [*"abcde", TABLE][place] for i, place in enumerate(state)})


def test_the_sets_of_planbench(planbench: Path):
    data = planbench.parent
    basic, three = (tasks("blocksworld", name, "all", 0, data=data) for name in ("planbench", "planbench-3"))
    assert (len(basic), len(three)) == (501, 101)
    assert Counter(len(task.data.objects) for task in basic) == {4: 446, 5: 55}
    assert {len(task.data.objects) for task in three} == {3}
    assert {task.data.name for task in basic} == {f"basic-{i}" for i in range(1, 502)}
    lengths = Counter(ORACLE.distance(task, task.data.init) for task in basic)
    assert lengths == {2: 30, 4: 57, 6: 114, 8: 139, 10: 113, 12: 46, 14: 1, 16: 1}
    first = next(task for task in basic if task.data.name == "basic-1")
    assert first.id == "a-cb-d--bc"
    assert not excluded("blocksworld", "planbench", data=data)
    assert irregular(data / "blocksworld/pddl.jsonl") == []


def test_instances_by_number(planbench: Path):
    data = planbench.parent
    [task] = tasks("blocksworld", "planbench:121", "all", 0, data=data)
    assert task.data.name == "basic-121"
    assert ORACLE.facts(task)["instance"] == "basic-121"
    generation = tasks("blocksworld", "planbench:2-501", "all", 0, data=data)
    assert len(generation) == 500
    assert "a-cb-d--bc" not in {task.id for task in generation}
    assert len(tasks("blocksworld", "planbench-3: 1, 5-7", "all", 0, data=data)) == 4
    for wrong, said in (
        ("0", "'0': there is no instance 0"),
        ("500-510", "no instance 502"),
        ("7-3", "no instance '7-3'"),
    ):
        with pytest.raises(ValueError, match=f"{said} in the set basic"):
            tasks("blocksworld", f"planbench:{wrong}", "all", 0, data=data)


def test_a_folder_of_instances_is_the_same_set(planbench: Path, tmp_path: Path):
    rows = [json.loads(line) for line in (planbench / "pddl.jsonl").read_text().splitlines()]
    for row in rows:
        if row["set"] == "basic":
            (tmp_path / f"instance-{row['id']}.pddl").write_text(row["pddl"])
    (tmp_path / "notes.txt").write_text("not a problem")
    folder = tasks("blocksworld", f"planbench:{tmp_path}", "test", 7)
    assert [task.id for task in folder] == [
        task.id for task in tasks("blocksworld", "planbench", "test", 7, data=planbench.parent)
    ]
    assert folder[0].data.name.startswith("instance-")


def test_the_published_files_join_to_the_pinned_content(planbench: Path):
    rows = [json.loads(line) for line in (planbench / "pddl.jsonl").read_text().splitlines()]
    by_path = {row["path"]: row["pddl"].encode() for row in rows}
    [file] = FILES
    assert len(file.urls) == len(set(file.urls)) == 602
    content = joined([(url, by_path[url[url.index("plan-bench") :]]) for url in file.urls])
    assert sha256(content).hexdigest() == file.sha256
    assert len(content) == file.size
    assert content == (planbench / "pddl.jsonl").read_bytes()


def write(folder: Path, *lines: object) -> Path:
    path = folder / "blocksworld/pddl.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def row(number: int, pddl: str = GOOD, kind: str = "basic") -> dict[str, object]:
    return {"set": kind, "id": number, "pddl": pddl}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nonsense", "line 2: no JSON object"),
        ("[" * 100_000, "line 2: no JSON object"),
        ([1], "line 2: an instance has a set and its PDDL"),
        ({"set": "basic", "id": "2", "pddl": GOOD}, "line 2: an instance has a set and its PDDL"),
        ({"set": "basic", "id": True, "pddl": GOOD}, "line 2: an instance has a set and its PDDL"),
        ({"set": "basic", "id": 2, "pddl": None}, "line 2: an instance has a set and its PDDL"),
        (row(1), "line 2: a second instance 'basic-1'"),
        (
            row(2, GOOD.replace("(on b c)", "(under b c)")),
            r"line 2, in the PDDL of 'basic-2':7: \(under \.\.\.\) is no fact",
        ),
        (row(2, GOOD[:100]), r"line 2, in the PDDL of 'basic-2':6: this bracket is never closed"),
        (row(2, GOOD.replace("d )", "d d )")), r"line 2, in the PDDL of 'basic-2':3: the object d is declared twice"),
        (row(2, GOOD.replace("\n(on c b)", "")), r"line 2, in the PDDL of 'basic-2':14: the goal is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_named_with_its_line(line: object, why: str, tmp_path: Path):
    path = write(tmp_path, row(1), line)
    with pytest.raises(ValueError, match=why) as caught:
        tasks("blocksworld", "planbench", "all", 0, data=tmp_path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_no_text(tmp_path: Path):
    write(tmp_path, "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"pddl\.jsonl: cannot be read as text"):
        tasks("blocksworld", "planbench", "all", 0, data=tmp_path)


def test_problems_nobody_can_work_on_are_excluded_by_name_and_doubles_count_once(tmp_path: Path):
    done = GOOD.replace("(and\n(on c b))", "(on b c)")
    loop = GOOD.replace("(on c b))", "(on c b) (on b c))")
    path = write(tmp_path, row(1), row(2, done), row(3, loop), row(4), row(5, GOOD, "basic_3"))
    assert [task.id for task in tasks("blocksworld", "planbench", "all", 0, data=tmp_path)] == ["a-cb-d--bc"]
    left_out = excluded("blocksworld", "planbench", data=tmp_path)
    assert set(left_out) == {"basic-2", "basic-3"}
    assert "the goal holds from the start" in left_out["basic-2"]
    assert "the goal cannot be reached: block b would be above itself" in left_out["basic-3"]
    odd = irregular(path)
    assert len(odd) == 4
    assert odd[2:] == [f"basic-{i} and {o} are one problem, a-cb-d--bc" for i, o in ((1, "basic-4"), (4, "basic-3-5"))]


def test_a_folder_without_instances_is_refused(tmp_path: Path):
    (tmp_path / "instance-x.pddl").write_text(GOOD)
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match=r"is no folder with files instance-1\.pddl"):
            tasks("blocksworld", f"planbench:{folder}", "all", 0)
    (tmp_path / "instance-3.pddl").write_text(GOOD.replace("(clear d)", "(clear e)"))
    with pytest.raises(ValueError, match=r"instance-3\.pddl:12: 'e' was not declared"):
        tasks("blocksworld", f"planbench:{tmp_path}", "all", 0)
