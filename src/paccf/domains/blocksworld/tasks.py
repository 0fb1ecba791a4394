"""Problems to solve, generated or PlanBench's. Offline, like all task sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from string import ascii_lowercase

from paccf.domains.blocksworld.blocks import DOMAIN, TABLE, checked, facts, task
from paccf.domains.blocksworld.forms import PddlError
from paccf.domains.blocksworld.strips import Problem, read_problem
from paccf.domains.data import DataFile, Files
from paccf.domains.sources import Finite, Pool, Source, Stream
from paccf.search.chance import chance
from paccf.search.tree import Task

PDDL = "blocksworld/pddl.jsonl"
LONG = 55 / 501  # of PlanBench's 501 instances, 55 have 5 blocks and the others 4
MOST = len(ascii_lowercase)


def drawn(fewest: int, most: int, seed: int, i: int) -> Task:
    """The i-th random problem: first state and goal are each uniform over all arrangements of its blocks, the goal
    being its ``on`` facts; drawn again while the goal is empty or holds from the start. With 4 or 5 blocks, as often
    5 as in PlanBench; else evenly ``fewest`` to ``most``."""
    number = chance("blocksworld", seed, i, "blocks")
    size = 4 + (number < LONG) if (fewest, most) == (4, 5) else fewest + int(number * (most + 1 - fewest))
    blocks = tuple(ascii_lowercase[:size])
    init = facts(arrangement(blocks, "blocksworld", seed, i, "init"))
    for attempt in count():
        place = arrangement(blocks, "blocksworld", seed, i, "goal", attempt)
        goal = frozenset(atom for atom in facts(place) if atom[0] == "on")
        if not goal <= init:  # an empty goal would
            break
    return task(checked(Problem("", blocks, init, goal), "a generated problem"))


def arrangement(blocks: Sequence[str], *parts: object) -> dict[str, str]:
    """What each block is on, uniform over all arrangements with an empty hand, by the hash of ``parts``. Towers without
    a place are given one in turn: the table, as often as it begins so many arrangements, or any other tower."""
    place: dict[str, str] = {}
    tops = {block: block for block in blocks}  # of every tower by its lowest block
    for left, block in zip(range(len(blocks) - 1, -1, -1), blocks, strict=True):
        standing = sum(place.get(other) == TABLE for other in tops)
        share = completions(left, standing + 1) / completions(left + 1, standing)
        number = chance(*parts, block)
        if number < share:
            place[block] = TABLE
        else:
            others = [other for other in tops if other != block]
            below = others[min(int((number - share) / (1 - share) * len(others)), len(others) - 1)]
            place[block] = tops[below]
            tops[below] = tops.pop(block)
    return place


@cache
def completions(loose: int, standing: int) -> int:
    """How many arrangements ``loose`` towers without a place and ``standing`` ones on the table can become."""
    if not loose:
        return 1
    return completions(loose - 1, standing) * (loose - 1 + standing) + completions(loose - 1, standing + 1)


def _generated(files: Files, argument: str) -> Pool:
    match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", argument or "4-5")
    fewest, most = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not 2 <= fewest <= most <= MOST:
        raise ValueError(f"{argument!r:.80} is no number of blocks: write one from 2 to {MOST}, or a range like 4-5")
    return Stream(partial(drawn, fewest, most))


def _planbench(name: str, files: Files, argument: str) -> Pool:
    """The instances of a set, all or those of the numbers asked for, or the instances of a folder. One that cannot be
    worked on is excluded by its name, one whose content was there before is that task again and counts once."""
    numbers = _numbers(argument)
    there = _rows(files.path(PDDL), name) if numbers is not None or not argument else _folder(Path(argument))
    found: dict[str, Task] = {}
    excluded: dict[str, str] = {}
    left = set(numbers or ())
    for number, title, where, text in there:
        if numbers is not None and number not in numbers:
            continue
        left.discard(number)
        problem = read_problem(text, DOMAIN, where)
        try:
            made = task(checked(Problem(title, problem.objects, problem.init, problem.goal), where))
        except ValueError as error:
            excluded[title] = str(error)
        else:
            found.setdefault(made.id, made)
    if left:
        raise ValueError(f"{argument!r:.80}: there is no instance {min(left)} in the set {name}")
    if not found and not excluded:
        raise ValueError(f"no instance {argument!r:.80} in the set {name}")
    return Finite(tuple(found.values()), excluded)


def _numbers(text: str) -> set[int] | None:
    """The numbers that ``text`` lists, like ``2-100,121``; `None` if it is no such list."""
    found: set[int] = set()
    for word in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:-([0-9]{1,5}))?\s*", word)
        if match is None:
            return None
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return found


Row = tuple[int, str, str, str]


def _rows(path: Path, name: str = "") -> Iterator[Row]:
    """Number, name, place and PDDL of the instances of a set (or of all) in a file. Raises ValueError that names file
    and line."""
    seen = set()
    for line, text in enumerate(_text(path).splitlines(), 1):
        if not text.strip():
            continue
        where = f"{path}, line {line}"
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"{where}: no JSON object") from None
        fields = row if isinstance(row, dict) else {}
        kind, number, pddl = fields.get("set"), fields.get("id"), fields.get("pddl")
        if not isinstance(kind, str) or type(number) is not int or not isinstance(pddl, str):
            raise ValueError(f"{where}: an instance has a set and its PDDL, both texts, and an id, a whole number")
        title = f"{kind.replace('_', '-')}-{number}"
        if title in seen:
            raise ValueError(f"{where}: a second instance {title!r:.80}")
        seen.add(title)
        if name in ("", kind):
            yield number, title, f"{where}, in the PDDL of {title!r:.60}", pddl


def _folder(path: Path) -> Iterator[Row]:
    """The same of the files ``instance-N.pddl`` in a folder, in order of N."""
    named = [(re.fullmatch(r"instance-(\d{1,6})\.pddl", file.name), file) for file in path.glob("instance-*.pddl")]
    numbered = [(int(match[1]), file) for match, file in named if match]
    if not numbered:
        raise ValueError(f"{str(path)!r:.200} is no folder with files instance-1.pddl and so on")
    for number, file in sorted(numbered):
        yield number, f"instance-{number}", str(file), _text(file)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as text: {error}") from None


def irregular(path: Path) -> list[str]:
    """What is odd about the instances of a file. Raises ValueError for one that is no Blocksworld problem in PDDL."""
    odd = []
    seen: dict[str, str] = {}
    for _, title, where, text in _rows(path):
        try:
            problem = read_problem(text, DOMAIN, where)
            made = task(checked(problem, where))
        except PddlError:
            raise
        except ValueError as error:
            odd.append(str(error))
        else:
            if made.id in seen:
                odd.append(f"{seen[made.id]} and {title} are one problem, {made.id}")
            seen[made.id] = title
    return odd


FOLDERS = {"basic": ("generated_basic", 501), "basic_3": ("generated_basic_3", 101)}
HOME = "plan-bench/instances/blocksworld"


def joined(parts: Iterable[tuple[str, bytes]]) -> bytes:
    """The instances as they are published, a line of JSON each."""
    sets = {folder: name for name, (folder, _) in FOLDERS.items()}
    rows = []
    for address, content in parts:
        path = address[address.index(HOME) :]
        folder, file = path.split("/")[-2:]
        number = int(file.removeprefix("instance-").removesuffix(".pddl"))
        row = {"set": sets[folder], "id": number, "path": path, "sha256": sha256(content).hexdigest()}
        rows.append(json.dumps(row | {"pddl": content.decode()}) + "\n")
    return "".join(rows).encode()


TAKES = "instances, like 2-501 or 121,130; or a folder of files instance-N.pddl, as PlanBench's own repository has them"
SOURCES = {
    "generated": Source(
        "random problems of 4 or 5 blocks, without end", _generated, takes="numbers of blocks, like 4 or 3-6"
    ),
    "planbench": Source(
        "PlanBench's 501 instances of 4 or 5 blocks", partial(_planbench, "basic"), (PDDL,), takes=TAKES
    ),
    "planbench-3": Source(
        "PlanBench's 101 instances of 3 blocks", partial(_planbench, "basic_3"), (PDDL,), takes=TAKES
    ),
}

_AT = "karthikv792/LLMs-Planning/b008bc4327112affd525035b9e82f93f54b9b3a3"
FILES = (
    DataFile(
        PDDL,
        "602 Blocksworld problems of PlanBench, in PDDL",
        "MIT",
        "https://github.com/karthikv792/LLMs-Planning",
        "c65e3208e3e467a8a35cb348cda3d1d06193b63ae1c73838f7a546e7012e7a22",
        249_374,
        tuple(f"{_AT}/{HOME}/{folder}/instance-{i}.pddl" for folder, n in FOLDERS.values() for i in range(1, n + 1)),
        irregular,
        joined,
    ),
)
