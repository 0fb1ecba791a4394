"""What a reply means: an answer, a reason to ask again, or a failure that says what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import msgspec

from paccf.models.live import Refused, Unavailable, Unusable, Withheld
from paccf.models.redaction import hidden, redacted
from paccf.models.wire import Reply
from paccf.search.world import ModelFailure

EXCERPT = 300  # ours: characters of a server's words that a message repeats

# how servers say that a prompt is too long, or that they will not speak of it
_LENGTH = re.compile(
    r"context.?(length|size|window)|maximum context|max_model_len|too many tokens|prompt is too long", re.I
)
_FILTER = re.compile(r"content.?(filter|policy|management)|responsible.?ai", re.I)
_CREDIT = re.compile(r"insufficient.?(quota|balance|credit|funds)|billing.?(hard.?limit|not.?active)", re.I)
_BUSY = frozenset({429, 503, 529})


@dataclass(frozen=True, slots=True)
class Said:
    """An answer. Counts are the provider's, `None` where it gives none."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    finish: str | None
    logprobs: bool = False  # whether there were any


@dataclass(frozen=True, slots=True)
class Again:
    """Worth another attempt. ``after``: seconds that the server asks for; ``busy``: it cannot take this many at once;
    ``answered``: the endpoint did answer, and said nothing that can be used."""

    why: str
    after: float | None = None
    busy: bool = False
    answered: bool = False


def judged(reply: Reply, key_env: str) -> Said | Again:
    """Raises `Refused` (`Withheld`) or `Unusable` for what sending it again cannot change."""
    if reply.status == 200:
        return _answer(reply.body)
    words = _words(reply.body)
    why = f"HTTP {reply.status}" + (f": {words}" if words else "")
    if reply.status == 429 and _CREDIT.search(words):
        raise failure(Unusable, f"the account has no credit ({why}); top it up, then run the same command again")
    if reply.status in (408, 409, 425, 429) or 500 <= reply.status < 600:
        return Again(redacted(why), retry_after(reply.headers.get("retry-after")), reply.status in _BUSY)
    raise _permanent(reply, words, why, key_env)


def refusal(reply: Reply, key_env: str = "") -> ModelFailure:
    """What a status other than 200 means where nothing is asked again."""
    try:
        outcome = judged(reply, key_env)
    except ModelFailure as error:
        return error
    assert isinstance(outcome, Again)
    return failure(Unavailable, f"the server did not answer: {outcome.why}")


def failure(kind: type[ModelFailure], message: str) -> ModelFailure:
    """Every failure that repeats foreign words is made here."""
    return kind(redacted(message))


def _permanent(reply: Reply, words: str, why: str, key_env: str) -> ModelFailure:
    variable = f"${key_env}" if key_env else "a key (none was sent: name its variable in key_env)"
    if 300 <= reply.status < 400:
        place = _host(reply.headers.get("location", ""))
        return failure(
            Unusable, f"HTTP {reply.status}: the endpoint redirects to {place}; write its final URL into the spec"
        )
    match reply.status:
        case 401:
            return failure(Unusable, f"the key was not accepted ({why}); check {variable}")
        case 402:
            return failure(Unusable, f"the account has no credit ({why}); top it up, then run the same command again")
        case 403:
            return failure(Unusable, f"access is forbidden ({why}); check what {variable} may use, and the model")
        case 404 | 405:
            return failure(Unusable, f"nothing answers there ({why}); check the base URL and the model's name")
    if reply.status == 413 or _LENGTH.search(words):
        return failure(
            Refused,
            f"the prompt does not fit the model's context ({why}); use a model with a longer one, or fewer candidates "
            "a request (microbatch), or lower max_tokens",
        )
    if _FILTER.search(words):
        return failure(
            Withheld, f"the provider's content filter refused the prompt ({why}); use another provider or model"
        )
    return failure(
        Refused,
        f"the endpoint refused the request ({why}); if it names a field, leave it out (omit) or set it (extra) in the "
        "spec",
    )


def _host(location: str) -> str:
    """Where a redirect leads, unless its host is part of a secret."""
    try:
        host = urlsplit(location).hostname
    except ValueError:
        host = None
    return _cut(host)[:80] if host and host in hidden(location).lower() else "another place"


def _answer(body: bytes) -> Said | Again:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Again(f"an answer that is no JSON: {_excerpt(body)}", answered=True)
    if not isinstance(found, dict):
        return Again("an answer that is no object", answered=True)
    choices = found.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Again(f"an answer without choices: {_words(body)}", answered=not found.get("error"))
    finish = choices[0].get("finish_reason")
    finish = hidden(finish)[:40] if isinstance(finish, str) else None
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    text = message.get("content")
    if finish == "content_filter":
        raise failure(Withheld, "the provider's content filter cut the answer; use another provider or model")
    if not isinstance(text, str):
        if isinstance(message.get("refusal"), str):
            raise failure(Withheld, f"the model refused: {_cut(message['refusal'])}")
        if finish == "length":
            raise failure(Refused, "the answer ended before its first word (finish reason length); raise max_tokens")
        return Again("an answer without content", answered=True)
    usage = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    counts = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    return Said(hidden(text), *counts, finish, bool(choices[0].get("logprobs")))


def _count(value: Any) -> int | None:
    """A plain count, or unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def _words(body: bytes) -> str:
    """What an error body says, if it says it in one of the usual ways."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _excerpt(body)
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        parts = [error[key] for key in ("code", "type", "message", "detail") if isinstance(error.get(key), str)]
        return _cut(" ".join(parts)) if parts else _excerpt(body)
    return _cut(error) if isinstance(error, str) else _excerpt(body)


def _excerpt(body: bytes) -> str:
    return _cut(" ".join(body.decode("utf-8", "replace").split()))


def _cut(text: str) -> str:
    """Secrets go first, so that no half of one is left."""
    return redacted(text)[:EXCERPT]


def retry_after(text: str | None) -> float | None:
    """Seconds, from either form of the header; `None` if there is none that can be read."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None
