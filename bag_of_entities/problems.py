"""Errors that say where, what was found and what to do, quoting little of the input."""

QUOTED_CHARACTERS = 80


class DocumentError(ValueError):
    """A document, or a part of one, that cannot be read.

    >>> str(DocumentError(("predictions", 3, "menu", 0), "expected a text, got set"))
    'predictions[3]["menu"][0]: expected a text, got set'
    """

    def __init__(self, place, message):
        self.place, self.message = place, message
        super().__init__(f"{format_place(place)}: {message}")

    def __reduce__(self):
        return type(self), (self.place, self.message)


def relocate(error, place):
    """The same error for a document of a part, named as `place(side, index)` names it in the whole.

    Any other error is returned as it is. Copies of this file make errors of equal shape, not of one class.

    >>> str(relocate(DocumentError(("predictions", 3, "menu"), "expected .."), lambda side, index: (side, index + 500)))
    'predictions[503]["menu"]: expected ..'
    """
    parts = getattr(error, "place", ())
    if len(parts) < 2 or parts[0] not in ("predictions", "references") or not isinstance(parts[1], int):
        return error
    return type(error)((*place(parts[0], parts[1]), *parts[2:]), error.message)


def format_place(place):
    head, *steps = place
    return head + "".join(f"[{step}]" if isinstance(step, int) else f'["{_shorten(str(step))}"]' for step in steps)


def quote(value):
    """A short, printable form of any value.

    >>> quote("a" * 1000)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"
    """
    if isinstance(value, str):
        return ascii(_shorten(value)) if not _is_encodable(value[:QUOTED_CHARACTERS]) else repr(_shorten(value))
    if isinstance(value, int | float | bool | None):
        return _shorten(repr(value))
    return f"a {type(value).__name__}"


def decode_utf8(data, path, first_line=1):
    """The text of a file's bytes, or of some of its lines, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = first_line + data[: error.start].count(b"\n")
        raise ValueError(f"{path}:{line}: not UTF-8 text ({error.reason}): save the file as UTF-8") from None


def _shorten(text):
    return text if len(text) <= QUOTED_CHARACTERS - 4 else text[: QUOTED_CHARACTERS - 7] + "..."


def _is_encodable(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
