"""Foreign text: tasks, actions, answers, reasons. Whoever shows it to a person writes it out first."""

from __future__ import annotations

import re

# controls, line separators, what is invisible or turns the direction of a line, tags, and lone surrogates
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_ESCAPES = ("\\x{:02x}", "\\u{{{:x}}}")


def clean(text: str) -> str:
    """``text`` with control and invisible characters written out, so that what stands in logs and files can neither
    drive the terminal nor pass for a line of ours. Use it where such text goes into a sentence."""
    return _CONTROL.sub(lambda m: _ESCAPES[ord(m[0]).bit_length() > 8].format(ord(m[0])), text)
