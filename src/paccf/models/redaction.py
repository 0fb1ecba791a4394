"""The one place that takes secrets out of texts. Whatever a server or an error said goes through it where it becomes
an answer or a message, so that nothing behind it (tape, record, export, logs, terminal) can hold a key."""

from __future__ import annotations

import json
import re
from urllib.parse import quote, quote_plus

_HIDDEN = "[redacted]"
_SHAPES = re.compile(
    r"(?P<scheme>(?<![a-z0-9+.-])[a-z0-9+.-]+://)[^\s/@:]*:[^\s/@]*@"  # credentials in a URL
    r"|(?P<bearer>\bbearer\s+)[\w.~+/=-]{8,}"
    r"|\bsk-[\w-]{8,}",
    re.IGNORECASE,
)
_secrets: dict[str, re.Pattern[str]] = {}  # the longest first


def hide(secret: str) -> None:
    """From now on ``secret`` is taken out of every text of this process, also as JSON, a URL or `repr` writes it, and
    in letters of another case (a host name comes back in small ones)."""
    if len(secret) >= 4:  # ours: a shorter one would blot out ordinary words, and is no secret
        forms = {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]}
        known = sorted(forms | _secrets.keys(), key=len, reverse=True)
        found = {form: re.compile(re.escape(form), re.IGNORECASE) for form in known}
        _secrets.clear()
        _secrets.update(found)


def hidden(text: str) -> str:
    """``text`` without the known secrets. Otherwise to the letter: for a model's own words."""
    for secret in _secrets.values():
        text = secret.sub(_HIDDEN, text)
    return text


def redacted(text: str) -> str:
    """``text`` without the known secrets and without whatever looks like one. For messages."""
    return _SHAPES.sub(lambda m: f"{m['scheme'] or m['bearer'] or ''}{_HIDDEN}{'@' * bool(m['scheme'])}", hidden(text))
