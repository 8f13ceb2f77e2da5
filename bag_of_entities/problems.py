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


def _shorten(text):
    return text if len(text) <= QUOTED_CHARACTERS - 4 else text[: QUOTED_CHARACTERS - 7] + "..."


def _is_encodable(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
