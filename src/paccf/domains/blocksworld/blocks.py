"""The world of blocks: its four operators, what is a state of it, and a short notation for its problems.

The notation writes towers from bottom to top, in alphabetical order, then the goal's chains: ``a-cb-d--bc`` is a, c
with b on it, and d, with the goal that c is on b. It is for blocks named by one letter, an empty hand, and goals of
``on``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise

from paccf.domains.blocksworld.strips import Atoms, Problem, read_domain, read_problem, written
from paccf.search.tree import Task

# The four-operator Blocksworld of the planning competitions, in PlanBench's names; ours as a text.
DOMAIN = read_domain(
    """
    (define (domain blocksworld-4ops)
      (:requirements :strips)
      (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (holding ?x) (handempty))
      (:action pick-up :parameters (?x)
        :precondition (and (handempty) (clear ?x) (ontable ?x))
        :effect (and (holding ?x) (not (handempty)) (not (clear ?x)) (not (ontable ?x))))
      (:action put-down :parameters (?x)
        :precondition (holding ?x)
        :effect (and (handempty) (clear ?x) (ontable ?x) (not (holding ?x))))
      (:action stack :parameters (?x ?y)
        :precondition (and (holding ?x) (clear ?y))
        :effect (and (handempty) (clear ?x) (on ?x ?y) (not (holding ?x)) (not (clear ?y))))
      (:action unstack :parameters (?x ?y)
        :precondition (and (handempty) (clear ?x) (on ?x ?y))
        :effect (and (holding ?x) (clear ?y) (not (handempty)) (not (clear ?x)) (not (on ?x ?y)))))
    """
)
TABLE, HAND = "the table", "the hand"  # no block has a blank in its name
NO_NAMES = {"block", "blocks", "hand", "on", "from", "of", "off", "table", "the", "top", "up", "down"}

_NOTATION = re.compile(r"[a-z]+(?:-[a-z]+)*--[a-z]{2,}(?:-[a-z]{2,})*")
LONGEST_ID = 60  # ours: longer ids are digests


def places(atoms: Atoms) -> dict[str, str]:
    """What each block is on: another block, `TABLE` or `HAND`. Of a goal, for the blocks that it places. Raises
    ValueError if a block is in two places."""
    found: dict[str, str] = {}
    for atom in sorted(atoms):
        if atom[0] in ("on", "ontable", "holding"):
            place = {"on": atom[-1], "ontable": TABLE, "holding": HAND}[atom[0]]
            if found.setdefault(atom[1], place) != place:
                raise ValueError(f"block {atom[1]} would be on {found[atom[1]]} and on {place}")
    return found


def facts(place: Mapping[str, str]) -> Atoms:
    """The whole state in which every block is where ``place`` says."""
    under = set(place.values())
    found: set[tuple[str, ...]] = set() if HAND in under else {("handempty",)}
    for block, below in place.items():
        if below == HAND:
            found.add(("holding", block))
            continue
        found.add(("ontable", block) if below == TABLE else ("on", block, below))
        if block not in under:
            found.add(("clear", block))
    return frozenset(found)


def towers(place: Mapping[str, str]) -> list[list[str]]:
    """The chains of blocks that stand on each other, each from its lowest block up, sorted. A held block is none."""
    above = {below: block for block, below in place.items()}
    lowest = {block for block, below in place.items() if below == TABLE}
    lowest |= {below for below in place.values() if below not in (TABLE, HAND) and below not in place}
    found = []
    for block in sorted(lowest):
        tower = [block]
        while tower[-1] in above:
            tower.append(above[tower[-1]])
        found.append(tower)
    return found


def impossible(atoms: Atoms) -> str | None:
    """Why no state holds all of ``atoms``; `None` if one does, and then it can be reached from every other state."""
    try:
        place = places(atoms)
    except ValueError as error:
        return str(error)
    held = [block for block, below in place.items() if below == HAND]
    if len(held) > 1 or (held and ("handempty",) in atoms):
        return f"the hand would hold {' and '.join(held)}" + (" and be empty" if len(held) < 2 else "")
    above: dict[str, str] = {}
    for block, below in sorted(place.items()):
        if below not in (TABLE, HAND):
            if below in above:
                return f"blocks {above[below]} and {block} would both be on {below}"
            above[below] = block
    for block in sorted({atom[1] for atom in atoms if atom[0] == "clear"} | set(held)):
        if block in above or (block in held and ("clear", block) in atoms):
            return f"block {block} would be clear or in the hand, and yet not be free"
    free = set(place) - {block for tower in towers(place) for block in tower} - set(held)
    return f"block {min(free)} would be above itself" if free else None


def checked(problem: Problem, where: str) -> Problem:
    """``problem`` with its objects sorted, if it can be worked on: its init is one whole state of blocks, its goal can
    be reached and does not hold yet. Raises ValueError."""
    if taken := NO_NAMES & set(problem.objects):
        raise ValueError(f"{where}: {min(taken)!r} is no name for a block here, since sentences need the word")
    if why := impossible(problem.init):
        raise ValueError(f"{where}: init is no state: {why}")
    place = places(problem.init)
    if missing := set(problem.objects) - set(place):
        raise ValueError(f"{where}: init does not say where block {min(missing)} is")
    if missing_facts := facts(place) - problem.init:
        raise ValueError(f"{where}: init is no whole state: {written(missing_facts)} is missing")
    if why := impossible(problem.goal):
        raise ValueError(f"{where}: the goal cannot be reached: {why}")
    if problem.goal <= problem.init:
        raise ValueError(f"{where}: the goal holds from the start, so there is nothing to search for")
    return Problem(problem.name, tuple(sorted(problem.objects)), problem.init, problem.goal)


def task_of(text: str) -> Task:
    """The task of a problem in the module's notation, or in PDDL. Raises ValueError."""
    if text.lstrip()[:1] in ("(", ";"):
        return task(checked(read_problem(text, DOMAIN, "problem"), "problem"))
    text = text.strip()
    if len(text) > 200 or not _NOTATION.fullmatch(text):
        raise ValueError(
            f"{text!r:.80} is no problem: write towers from bottom to top and the goal's chains, like 'a-cb-d--bc' "
            "(c with b on it; the goal is c on b), or a PDDL problem"
        )
    start, goal = ([list(chain) for chain in part.split("-")] for part in text.split("--"))
    for part, chains in (("start", start), ("goal", goal)):
        blocks = [block for chain in chains for block in chain]
        if len(set(blocks)) < len(blocks):
            raise ValueError(f"{text!r:.80}: a block is named twice in the {part}")
    place = on(start) | {chain[0]: TABLE for chain in start}
    if unknown := {block for chain in goal for block in chain} - set(place):
        raise ValueError(f"{text!r:.80}: block {min(unknown)} of the goal is not there at the start")
    wanted = frozenset(("on", block, below) for block, below in on(goal).items())
    return task(checked(Problem("", tuple(place), facts(place), wanted), repr(text)))


def on(chains: Iterable[Sequence[str]]) -> dict[str, str]:
    """What each block of ``chains`` stands on, but for the lowest ones."""
    return {block: below for chain in chains for below, block in pairwise(chain)}


def task(problem: Problem) -> Task:
    """The task of a checked problem. Its id says all of it, or is a digest of it: equal problems have equal ids."""
    place = places(problem.init)
    chains = towers(places(problem.goal))
    if all(len(block) == 1 for block in problem.objects) and HAND not in place.values():
        text = "--".join("-".join("".join(tower) for tower in part) for part in (towers(place), chains))
        if len(text) <= LONGEST_ID and all(atom[0] == "on" for atom in problem.goal):
            return Task(text, problem)
    content = "\n".join((" ".join(problem.objects), written(problem.init), written(problem.goal)))
    return Task(f"{len(problem.objects)}-blocks-{sha256(content.encode()).hexdigest()[:16]}", problem)
