r"""Text of a workspace, made safe to show: on one line, without escape codes.

>>> visible("new\nline.py")
'new\\nline.py'
>>> restored("new\\nline.py")
'new\nline.py'
"""

from __future__ import annotations

import re

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {written: character for character, written in _SHORT.items()}
# C0 and C1; marks that end lines elsewhere, reverse the order of text or cannot be seen; lone
# surrogates, which stand for bytes that aren't text. Joiners stay: scripts and emoji need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WRITTEN = re.compile(r"\\(?:[nrt]|u[0-9a-f]{4}|U[0-9a-f]{8})")


def visible(name: str) -> str:
    """The name on one line; characters that control a terminal or the order of text are escaped."""
    if name.isascii() and name.isprintable():
        return name
    return _UNSAFE.sub(lambda match: _SHORT.get(match[0]) or _escaped(match[0]), name)


def restored(text: str) -> str:
    """The name that `visible` shows as `text`."""
    return _WRITTEN.sub(lambda match: _LONG.get(match[0]) or chr(int(match[0][2:], 16)), text)


def for_terminal(text: str) -> str:
    """The text with its lines and tabs, and with terminal control characters escaped.

    The escapes are those of JSON, so that JSON stays JSON.
    """
    return _CONTROL.sub(lambda match: _escaped(match[0]), text)


def for_json(text: str) -> str:
    """The same JSON, in which what `visible` escapes in names is escaped in strings.

    `text` is JSON whose only characters below a space are those between values.
    """
    return _UNSAFE.sub(lambda match: match[0] if match[0] < " " else _utf16(match[0]), text)


def is_text(text: str) -> bool:
    """Return whether UTF-8 can hold the text: it has no half of a character and no stray byte."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _utf16(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
