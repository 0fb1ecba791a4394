"""The tape's rows: attempts that were about to be sent, and answers; written many at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, Select, bindparam, case, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DatabaseError

from paccf.record import rows, schema, texts
from paccf.record.database import Database
from paccf.record.errors import Conflict, Damaged, Skip

_TAPE = schema.tape.c


def name_of(model: str, parameters: str, kind: str, draw: int, prompt: str) -> bytes:
    """What an answer is filed under: a digest of the model's fingerprint, its parameters, the kind of the request,
    which draw of it, and the prompt."""
    head = f"{len(model)} {len(parameters)} {kind} {draw} "  # lengths: no two lists of parts are one text
    return texts.digest((head + model + parameters + prompt).encode("utf-8", "surrogatepass"))


class Question(NamedTuple):
    """What was asked: all that decides the answer, and the key, which is its digest."""

    key: bytes
    model: str
    parameters: str
    kind: str
    draw: int
    prompt: str


class Reply(NamedTuple):
    """What came back."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    finish: str | None
    latency: float | None
    attempts: int


class Row(NamedTuple):
    """A row of the tape, whole. ``begun`` are the attempts that were about to be sent, over all processes; without a
    ``reply`` they may have been billed, unless ``failure`` says how they ended."""

    question: Question
    begun: int
    reply: Reply | None
    failure: str | None


class Unstated(NamedTuple):
    """Attempts whose tokens nobody stated, of all draws of a prompt together."""

    kind: str
    parameters: str
    prompt: str
    attempts: int


class Totals(NamedTuple):
    """What the tape holds."""

    answers: int
    attempts: int  # about to be sent, over all processes
    prompt_tokens: int
    completion_tokens: int
    unknown: int  # answers without usage
    maybe_billed: int  # requests whose attempts have neither answer nor failure
    failed: int


def write_begun(connection: Connection, questions: Sequence[Question]) -> list[None]:
    """Note an attempt for each."""
    _put_questions(connection, [(question, 1) for question in questions])
    return [None] * len(questions)


def write_replies(connection: Connection, replies: Sequence[tuple[Question, Reply]]) -> list[Reply]:
    """Keep the answers; the result is what the tape says then: somebody else's answer, if that was first."""
    _put_questions(connection, [(question, 0) for question, _ in replies])
    packed = [texts.pack(reply.text) for _, reply in replies]
    texts.put(connection, dict(packed))
    values: list[dict[str, Any]] = [
        {
            "at": question.key,
            "answer": name,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "finish": reply.finish,
            "latency": rows.number(reply.latency),
            "attempts": reply.attempts,
            "failure": None,
            "seal": _seal(question.key, name, reply),
        }
        for (question, reply), (name, _) in zip(replies, packed, strict=True)
    ]
    values.sort(key=lambda value: value["at"])
    done = connection.execute(_ANSWER, values)
    if done.rowcount == len(values):  # none was there before, so each is what was given
        return [reply._replace(latency=rows.number(reply.latency)) for _, reply in replies]
    found = read_replies(connection, [question.key for question, _ in replies])
    return [found[question.key] for question, _ in replies]


def write_failures(connection: Connection, failures: Sequence[tuple[Question, str]]) -> list[None]:
    """Note how the attempts of each ended without an answer."""
    _put_questions(connection, [(question, 0) for question, _ in failures])
    connection.execute(
        _FAILURE,
        [{"at": q.key, "failure": text, "seal": texts.seal(q.key, text)} for q, text in sorted(failures)],
    )
    return [None] * len(failures)


class Kept(Enum):
    """What became of a row that was brought from another tape."""

    NEW = "new"
    SAME = "same"
    THEIRS = "theirs"  # another answer was there and stayed


def write_rows(connection: Connection, batches: Sequence[tuple[Sequence[Row], bool]]) -> list[list[Kept]]:
    """Bring rows from other tapes. An answer that differs is a `Conflict`; with a True beside the batch, the one that
    is there stays."""
    return [_bring(connection, batch, keep) for batch, keep in batches]


def _bring(connection: Connection, batch: Sequence[Row], keep: bool) -> list[Kept]:
    keys = [row.question.key for row in batch]
    found = connection.execute(select(_TAPE.key, _TAPE.begun).where(_TAPE.key.in_(keys)))
    begun: dict[bytes, int] = {row.key: row.begun for row in found}
    answered = read_replies(connection, keys)
    more = [(row.question, max(row.begun - begun.get(row.question.key, 0), 0)) for row in batch]
    _put_questions(connection, more)
    if replies := [(row.question, row.reply) for row in batch if row.reply is not None]:
        write_replies(connection, replies)
    failed = [(row.question, row.failure) for row in batch if row.failure is not None and row.reply is None]
    newer = {row.question.key for row in batch if row.begun > begun.get(row.question.key, -1)}
    if failed := [(question, text) for question, text in failed if question.key in newer]:
        write_failures(connection, failed)
    return [_kept(row, row.question.key in begun, answered.get(row.question.key), keep) for row in batch]


def _kept(row: Row, there: bool, reply: Reply | None, keep: bool) -> Kept:
    if reply is None:
        return Kept.NEW if row.reply is not None or not there else Kept.SAME
    if row.reply is None or _said(row.reply) == _said(reply):
        return Kept.SAME
    if keep:
        return Kept.THEIRS
    raise Conflict(
        f"the answer to {row.question.kind}, draw {row.question.draw} ({row.question.prompt!r:.200}): recorded is "
        f"{_said(reply)!r:.300}, given is {_said(row.reply)!r:.300}"
    )


def _said(reply: Reply) -> tuple[object, ...]:
    """All of an answer that a search sees; when and after how many attempts it came is no difference."""
    return (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.finish)


_ANSWER = (
    update(schema.tape)
    .where(_TAPE.key == bindparam("at"), _TAPE.answer.is_(None))
    .values(
        {
            name: bindparam(name)
            for name in (
                "answer",
                "prompt_tokens",
                "completion_tokens",
                "finish",
                "latency",
                "attempts",
                "failure",
                "seal",
            )
        }
    )
)
_FAILURE = (
    update(schema.tape)
    .where(_TAPE.key == bindparam("at"), _TAPE.answer.is_(None))
    .values(failure=bindparam("failure"), seal=bindparam("seal"))
)


def _put_questions(connection: Connection, questions: Sequence[tuple[Question, int]]) -> None:
    """Enter questions that are not there, and add attempts to those that are."""
    packed: dict[bytes, bytes] = {}
    values: list[dict[str, Any]] = []
    names: dict[str, bytes] = {}
    for question, attempts in questions:
        for text in (question.model, question.parameters, question.prompt):
            if text not in names:
                names[text], body = texts.pack(text)
                packed[names[text]] = body
        values.append(
            {
                "key": question.key,
                "model": names[question.model],
                "parameters": names[question.parameters],
                "kind": question.kind,
                "draw": question.draw,
                "prompt": names[question.prompt],
                "begun": attempts,
                "tally": attempts * schema.TALLY,
            }
        )
    texts.put(connection, packed)
    values.sort(key=lambda value: value["key"])
    counting = any(attempts for _, attempts in questions)
    connection.execute(_entering(connection.dialect.name, counting), values)


@cache
def _entering(dialect: str, counting: bool) -> Insert:
    """The statement that enters questions; what is there already is left as it is, or has its attempts added. How the
    attempts before ended says nothing of a new one: without an answer the row is open again."""
    statement = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(schema.tape)
    if not counting:
        return statement.on_conflict_do_nothing()
    more: dict[str, Any] = {name: _TAPE[name] + statement.excluded[name] for name in ("begun", "tally")}
    reopened = _TAPE.answer.is_(None) & (statement.excluded.begun > 0)
    more |= {name: case((reopened, None), else_=_TAPE[name]) for name in ("failure", "seal")}
    return statement.on_conflict_do_update(index_elements=["key"], set_=more)


def _seal(key: bytes, answer: bytes, reply: Reply) -> bytes:
    _, prompt_tokens, completion_tokens, finish, latency, attempts = reply
    return texts.seal(key, answer, prompt_tokens, completion_tokens, finish, rows.number(latency), attempts)


_BODY = schema.texts.alias()
_REPLY = (
    _TAPE.key,
    _TAPE.answer,
    _TAPE.prompt_tokens,
    _TAPE.completion_tokens,
    _TAPE.finish,
    _TAPE.latency,
    _TAPE.attempts,
    _TAPE.seal,
    _BODY.c.body,
)
_REPLIES = select(*_REPLY).join_from(schema.tape, _BODY, _BODY.c.digest == _TAPE.answer, isouter=True)


def read_replies(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, Reply]:
    """The answers that there are. Raises `Damaged` for one that is not what was written."""
    found: dict[bytes, Reply] = {}
    for start in range(0, len(keys), 500):
        wanted = _REPLIES.where(_TAPE.key.in_(keys[start : start + 500]), _TAPE.answer.is_not(None))
        for row in connection.execute(wanted):
            found[row.key] = _reply(tuple(row))
    return found


def _reply(row: tuple[Any, ...]) -> Reply:
    key, answer, prompt_tokens, completion_tokens, finish, latency, attempts, seal, body = row
    if body is not None:
        reply = Reply(texts.unpack(answer, body), prompt_tokens, completion_tokens, finish, latency, attempts)
        if _seal(key, answer, reply) == seal:
            return reply
    raise Damaged(f"the tape's answer {key.hex()} is not what was written. Restore the file from a copy")


class Lookup:
    """Finds answers quickly: compiled once, over connections that stay open."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.quick = database.path is not None
        dialect = database.reading.dialect
        one = _REPLIES.where(_TAPE.key == bindparam("at"), _TAPE.answer.is_not(None))
        many = _REPLIES.where(_TAPE.key == func.any(bindparam("at")), _TAPE.answer.is_not(None))
        self._sql = str((one if self.quick else many).compile(dialect=dialect))
        self._text = schema.Foreign().process_result_value
        self._dialect = dialect

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        with self._database.translated():
            if self.quick:
                execute = self._database.standing().execute
                fetched = [row for key in keys if (row := execute(self._sql, (key,)).fetchone()) is not None]
            else:
                fetched = self._database.standing().execute(self._sql, {"at": list(keys)}).fetchall()
            found = {}
            for row in fetched:
                if row[4] is not None and row[4][:1] == "\x01":
                    row = (*row[:4], self._text(row[4], self._dialect), *row[5:])
                found[row[0]] = _reply(row)
            return found


def read_rows(connection: Connection, skip: Skip | None = None) -> Iterator[Row]:
    """All rows of the tape by key, one at a time. One that is not what was written raises `Damaged`, or is handed to
    ``skip`` and left out."""
    names = {"model": schema.texts.alias(), "parameters": schema.texts.alias(), "prompt": schema.texts.alias()}
    statement = select(
        *_REPLY,
        _TAPE.kind,
        _TAPE.draw,
        _TAPE.begun,
        _TAPE.tally,
        _TAPE.failure,
        *[_TAPE[name] for name in names],
        *[alias.c.body.label(f"{name}_body") for name, alias in names.items()],
    ).join_from(schema.tape, _BODY, _BODY.c.digest == _TAPE.answer, isouter=True)
    for name, alias in names.items():
        statement = statement.join(alias, alias.c.digest == _TAPE[name], isouter=True)
    statement = statement.order_by(_TAPE.key)
    if skip is None:
        yield from map(_row, connection.execution_options(yield_per=500).execute(statement))
        return
    for first in range(256):
        yield from _readable(connection, statement, bytes([first]), skip)


_PREFIX = 2  # ours: bytes of a key; where rows that begin so cannot be read they are given up


def _readable(connection: Connection, statement: Select[Any], prefix: bytes, skip: Skip) -> Iterator[Row]:
    """The rows whose keys begin with ``prefix``; if they cannot be read together, ever fewer at a time."""
    chosen = statement.where(_TAPE.key >= prefix)
    after = int.from_bytes(prefix, "big") + 1
    if after < 256 ** len(prefix):
        chosen = chosen.where(_TAPE.key < after.to_bytes(len(prefix), "big"))
    try:
        found = list(connection.execute(chosen))
    except (DatabaseError, UnicodeDecodeError, json.JSONDecodeError) as error:
        if len(prefix) < _PREFIX:
            for more in range(256):
                yield from _readable(connection, statement, prefix + bytes([more]), skip)
        else:
            skip(Damaged(f"the tape's rows {prefix.hex()}... cannot be read: {error}"))
        return
    for row in found:
        try:
            whole = _row(row)
        except Damaged as error:
            skip(error)
        else:
            yield whole


def _row(row: Any) -> Row:
    said = {}
    for name in ("model", "parameters", "prompt"):
        body = getattr(row, f"{name}_body")
        if body is None:
            raise Damaged(f"the {name} of the tape's row {row.key.hex()} is missing")
        said[name] = texts.unpack(getattr(row, name), body)
    question = Question(row.key, said["model"], said["parameters"], row.kind, row.draw, said["prompt"])
    if name_of(*question[1:]) != row.key:
        raise Damaged(f"the tape's row {row.key.hex()} is not what was written: its question has another digest")
    if row.begun * schema.TALLY != row.tally:
        raise Damaged(f"the tape's row {row.key.hex()} is not what was written: its attempts are miscounted")
    if row.answer is None and row.failure is not None and texts.seal(row.key, row.failure) != row.seal:
        raise Damaged(f"the tape's row {row.key.hex()} is not what was written: its failure reads otherwise")
    return Row(question, row.begun, None if row.answer is None else _reply(tuple(row[: len(_REPLY)])), row.failure)


def totals(connection: Connection) -> Totals:
    """What the tape holds, without reading texts."""
    answered = _TAPE.answer.is_not(None)
    unknown = answered & (_TAPE.prompt_tokens.is_(None) | _TAPE.completion_tokens.is_(None))
    open_ = _TAPE.answer.is_(None) & (_TAPE.begun > 0)

    def count(condition: Any) -> Any:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    row = connection.execute(
        select(
            count(answered),
            func.coalesce(func.sum(_TAPE.begun), 0),
            func.coalesce(func.sum(case((answered & ~unknown, _TAPE.prompt_tokens), else_=0)), 0),
            func.coalesce(func.sum(case((answered & ~unknown, _TAPE.completion_tokens), else_=0)), 0),
            count(unknown),
            count(open_ & _TAPE.failure.is_(None)),
            count(open_ & _TAPE.failure.is_not(None)),
        )
    ).one()
    return Totals(*[int(value) for value in row])


def unstated(connection: Connection) -> Iterator[Unstated]:
    """What was sent and may have been billed although nobody stated its tokens: answers without usage, and requests
    that have neither answer nor failure."""
    parameters, prompt = schema.texts.alias(), schema.texts.alias()
    silent = _TAPE.prompt_tokens.is_(None) | _TAPE.completion_tokens.is_(None)
    grouped = (
        select(_TAPE.kind, _TAPE.parameters, _TAPE.prompt, func.sum(_TAPE.begun).label("attempts"))
        .where(_TAPE.begun > 0, _TAPE.failure.is_(None), silent)
        .group_by(_TAPE.kind, _TAPE.parameters, _TAPE.prompt)
        .subquery()
    ).c
    statement = (
        select(*grouped, parameters.c.body.label("parameters_body"), prompt.c.body.label("prompt_body"))
        .join(parameters, parameters.c.digest == grouped.parameters, isouter=True)
        .join(prompt, prompt.c.digest == grouped.prompt, isouter=True)
    )
    for row in connection.execution_options(yield_per=500).execute(statement):
        if row.parameters_body is None or row.prompt_body is None:
            raise Damaged("a prompt of the tape, or its parameters, is missing")
        said = texts.unpack(row.parameters, row.parameters_body), texts.unpack(row.prompt, row.prompt_body)
        yield Unstated(row.kind, *said, int(row.attempts))


def billed(connection: Connection, keys: Sequence[bytes]) -> Mapping[str, Any] | None:
    """Requests by kind and tokens of the tape's rows under ``keys``, each counted as often as it stands there; `None`
    if one is not answered."""
    found: dict[bytes, Any] = {}
    for start in range(0, len(keys), 500):
        part = list(dict.fromkeys(keys[start : start + 500]))
        statement = select(_TAPE.key, _TAPE.kind, _TAPE.prompt_tokens, _TAPE.completion_tokens)
        for row in connection.execute(statement.where(_TAPE.key.in_(part), _TAPE.answer.is_not(None))):
            found[row.key] = row
    requests: dict[str, int] = {}
    prompt = completion = unknown = 0
    for key in keys:
        there = found.get(key)
        if there is None:
            return None
        requests[there.kind] = requests.get(there.kind, 0) + 1
        if there.prompt_tokens is None or there.completion_tokens is None:
            unknown += 1
        else:
            prompt, completion = prompt + there.prompt_tokens, completion + there.completion_tokens
    return {
        "requests": requests,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "unknown_tokens": unknown,
    }
