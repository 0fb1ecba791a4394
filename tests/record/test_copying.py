"""From one record into another: parts become the whole in any order, again changes nothing, a difference is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paccf.models.tape import AsyncTaped, Attempting, DurableTape
from paccf.record.copying import Copied, copy_run, copy_tape
from paccf.record.errors import Conflict, Foreign
from paccf.record.store import Store
from paccf.record.tape import Row, read_rows
from paccf.record.values import Exclusion, RunInfo, Search
from paccf.search.tree import Task
from paccf.search.world import Answer, Request, Subject

Made = Callable[..., Search]


def fill(store: Store, info: RunInfo, searches: list[Search], smaller: list[Search] = []) -> None:  # noqa: B006
    store.begin(info)
    for search in searches:
        store.save(info, search)
        store.put_labels(info, search.outcome.key, "found", [[True] * len(f.candidates) for f in search.frontiers])
    for search in smaller:
        store.save_outcome(info, search.outcome)


def everything(store: Store) -> dict[str, Any]:
    with store.database.read() as connection:
        tape = list(read_rows(connection))
    return {
        "runs": [store.entry(run) for run in store.runs()],
        "searches": [list(store.searches(run, "found")) for run in store.runs()],
        "certificates": [store.certificates(run) for run in store.runs()],
        "exclusions": [store.exclusions(run) for run in store.runs()],
        "tape": tape,
    }


def request(prompt: str, draw: int = 0) -> Request:
    return Request("propose", prompt, draw, Subject(Task("t", None), ""))


def ask(store: Store, prompts: list[str], said: str = "said") -> None:
    """Answers on the tape of ``store``."""

    class Says:
        name = fingerprint = "says"

        async def answer(self, request: Request, attempting: Attempting | None = None) -> Answer:
            assert attempting is not None
            await attempting(1)
            return Answer(f"{said} {request.prompt}", 3, None, "stop", 0.5, 1)

    async def go() -> None:
        model = AsyncTaped(DurableTape(store, "says"), Says())
        await asyncio.gather(*[model.answer(request(prompt)) for prompt in prompts])

    asyncio.run(go())


def test_parts_become_the_whole_in_any_order_and_again_changes_nothing(
    place: str, tmp_path: Path, info: RunInfo, made: Made
) -> None:
    searches = [made(name, task) for name in ("uct", "levin") for task in ("t1", "t2", "t3")]
    smaller = [made("uct", task, budget=12) for task in ("t1", "t2", "t3")]
    with Store.open(tmp_path / "whole.sqlite") as whole:
        fill(whole, info, searches, smaller)
        whole.put_certificate(info, "toy", "uct", "{}")
        whole.exclude(info, Exclusion("toy", "t9", "so"))
        ask(whole, [f"p{i}" for i in range(9)])
        expected = everything(whole)
    later = replace(info, versions={"paccf": "0.2.0"})
    for i in range(3):
        with Store.open(tmp_path / f"part{i}.sqlite") as part:
            fill(part, info if i < 2 else later, searches[i::3], smaller[i::3])
            ask(part, [f"p{n}" for n in range(4 * i, min(4 * i + 5, 9))])
            if i:
                part.exclude(info, Exclusion("toy", "t9", "so" if i == 2 else "for another reason"))
                part.put_certificate(info, "toy", "uct", "{}")
    with Store.open(place) as target:
        for i in (2, 0, 1, 0, 2, 1):
            with Store.open(tmp_path / f"part{i}.sqlite", readonly=True) as part:
                copied = copy_tape(part, target, into=copy_run(part, target, "paper"))
        assert copied == Copied(2, 3, 2, 1, 0, 5, 0, 0, 0)
        found = everything(target)
    begun = found["runs"][0]
    assert list(begun.versions) == [{"paccf": "0.2.0"}, {"paccf": "0.1.0"}]
    for key in ("searches", "certificates", "exclusions"):
        assert found[key] == expected[key], key
    told = [(row.question, row.begun, row.reply) for row in found["tape"]]
    assert told == [(row.question, row.begun, row.reply) for row in expected["tape"]]


def test_a_longer_search_takes_the_place_of_the_beginning_of_it(
    place: str, tmp_path: Path, info: RunInfo, made: Made
) -> None:
    part, whole = made(budget=12), made(budget=60)
    with Store.open(tmp_path / "short.sqlite") as short, Store.open(tmp_path / "long.sqlite") as long:
        fill(short, info, [part])
        fill(long, info, [whole])
        with Store.open(place) as target:
            for source in (short, long, short):
                copy_run(source, target, "paper")
            found = list(target.searches("paper", "found"))
            assert [len(search.frontiers) for search in found] == [len(whole.frontiers), len(part.frontiers)]
            assert found[0].frontiers[0].protected is not None
            short.put_labels("paper", part.outcome.key, "probed", [[None] * len(f.candidates) for f in part.frontiers])
            long.put_labels(
                "paper", whole.outcome.key, "probed", [[False] * len(f.candidates) for f in whole.frontiers]
            )
            copy_run(long, target, "paper")
            with pytest.raises(Conflict, match="probed labels: recorded is '0+,.*given is '[?]"):
                copy_run(short, target, "paper")


def test_a_difference_is_named_and_nothing_of_it_is_written(
    place: str, tmp_path: Path, info: RunInfo, made: Made
) -> None:
    given = made()
    other = replace(given, outcome=replace(given.outcome, utility=0.25))
    with Store.open(tmp_path / "a.sqlite") as a, Store.open(place) as b:
        fill(a, info, [other])
        fill(b, info, [given])
        ask(a, ["p", "q"])
        ask(b, ["q"], "says otherwise")
        b.begin_as(a.entry("paper"))  # the earlier of two beginnings stands, whatever becomes of the rest
        before = everything(b)
        with pytest.raises(Conflict, match="utility: recorded is 1.0, given is 0.25"):
            copy_run(a, b, "paper")
        with pytest.raises(
            Conflict, match=r"the answer to propose, draw 0 \('q'\): recorded is .*otherwise.* given is"
        ):
            copy_tape(a, b)
        assert everything(b) == before
        copied = copy_tape(a, b, keep=True)
        assert (copied.new, copied.kept) == (1, 1)
        found = {row.question.prompt: row.reply.text for row in everything(b)["tape"]}
        assert found == {"p": "said p", "q": "says otherwise q"}
        with pytest.raises(Conflict, match="run paper, model"):
            copy_run(_with(tmp_path, replace(info, model="another")), b, "paper")
        with pytest.raises(Foreign, match="both what to copy and where to"):
            copy_tape(b, Store(b.database))


def _with(folder: Path, info: RunInfo) -> Store:
    with Store.open(folder / "another.sqlite") as store:
        store.begin(info)
    return Store.open(folder / "another.sqlite", readonly=True)


def test_what_was_begun_and_not_answered_stays_visible(place: str, tmp_path: Path) -> None:
    def rows(store: Store) -> list[Row]:
        with store.database.read() as connection:
            return list(read_rows(connection))

    with Store.open(tmp_path / "a.sqlite") as a, Store.open(place) as b:
        tape = DurableTape(a, "says")
        taped = AsyncTaped(tape)
        for prompt in ("lost", "refused", "answered later"):
            tape.begin(taped._asked(request(prompt))).result()
        tape.fail(taped._asked(request("refused")), "403").result()
        for _ in range(2):
            copied = copy_tape(a, b)
        assert (copied.open, copied.new) == (3, 0)
        assert {row.question.prompt: (row.begun, row.failure) for row in rows(b)} == {
            "lost": (1, None),
            "refused": (1, "403"),
            "answered later": (1, None),
        }
        assert b.tape().maybe_billed == 2
        ask(a, ["answered later"])
        assert copy_tape(a, b).new == 1
        (row,) = [row for row in rows(b) if row.reply is not None]
        assert row.begun == 2
