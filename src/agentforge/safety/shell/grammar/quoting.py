"""Quote removal: from the source of a word to the text that bash passes on."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))|([^\\]+)|(\\)", re.DOTALL
)
_ANSI_LETTERS = {
    **{"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"},
    **{"\\": "\\", "'": "'", '"': '"', "?": "?"},
}
_GLOB = re.compile(r"(?<!\\)(?:\\\\)*[*?\[]")


def unescape(text: str) -> str:
    """Remove backslashes from an unquoted word; a backslash before a newline goes with it."""
    return re.sub(r"\\(.)", lambda match: "" if match[1] == "\n" else match[1], text, flags=re.DOTALL)


def unescape_double(text: str) -> str:
    """Remove the backslashes that mean something inside double quotes."""
    return re.sub(r'\\([$`"\\\n])', lambda match: "" if match[1] == "\n" else match[1], text)


def decode_ansi(text: str) -> str:
    """Decode the inside of $'...'; what bash would cut at a NUL is cut here too."""
    out = []
    for match in _ANSI.finditer(text):
        hexa, short, wide, octal, control, letter, plain, lone = match.groups()
        code = hexa or short or wide
        if code:
            out.append(chr(min(int(code, 16), 0x10FFFF)))
        elif octal:
            out.append(chr(int(octal, 8) & 0xFF))
        elif control:
            out.append(chr(ord(control) & 0x1F))
        elif letter:
            out.append(_ANSI_LETTERS.get(letter, "\\" + letter))
        else:
            out.append(plain or lone)
    return "".join(out).partition("\0")[0]


def has_glob(text: str) -> bool:
    """Whether an unquoted word holds an unescaped pattern character."""
    return _GLOB.search(text) is not None
