"""The document in a text, as language models answer: JSON, a fenced block, or JSON with prose around it.

>>> parse_json_text('Here it is: {"total": 4.50}. Anything else?', ("predictions", 0))
{'total': '4.50'}
"""

import json
import re

from .problems import DocumentError, quote

FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_STRING = r'"(?:[^"\\]|\\.)*"'
JSON_START = re.compile(rf"\{{\s*(?:{_STRING}\s*:|\}})|\[\s*(?:{_STRING}\s*[,\]]|[\[{{\]])")
UNFINISHED_START = re.compile(r'\{\s*"[^}]*$|\[\s*"[^\]]*$')


class NumberText(str):
    """A number of JSON text, exactly as it was written: 4.50 stays 4.50."""


class _Rejected(ValueError):
    """Something that Python's decoder takes and JSON, or we, do not."""


def parse_json_text(text, place):
    """The one JSON object or array in `text`; numbers are kept as they are written."""
    try:
        return _decode(text.strip().removeprefix("\ufeff"), place)
    except json.JSONDecodeError as error:
        whole_error = error
    found = _values_in_fences(text, place) or list(_values_in(text, place))
    found = [value for value in found if value] or found[:1]
    if len(found) == 1:
        return found[0]
    if found:
        raise DocumentError(place, f"{len(found)} JSON documents in one text; give one: {quote(text)}")
    raise DocumentError(place, f"no JSON object or array in this text ({_problem(whole_error)}): {quote(text)}")


def _values_in_fences(text, place):
    """The JSON values in fenced blocks. What looks like a fence can be part of a value: then there are none."""
    try:
        return [value for block in FENCE.findall(text) for value in _values_in(block, place)]
    except DocumentError:
        return []


def _values_in(text, place):
    """The JSON values that stand in a text, outermost ones only; prose may quote {"a"} and ["b" or "c"]."""
    position = 0
    while start := JSON_START.search(text, position):
        if unfinished := UNFINISHED_START.search(text, position, start.start()):
            raise DocumentError(place, f"broken JSON: {quote(unfinished[0])}")
        try:
            value, position = _decode_at(text, start.start(), place)
        except json.JSONDecodeError as error:
            part = quote(text[start.start() :][:200])
            raise DocumentError(place, f"broken JSON ({_problem(error)}): {part}") from None
        yield value


def _decode(text, place):
    value, end = _decode_at(text, 0, place)
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    if not isinstance(value, dict | list):
        raise DocumentError(place, f"expected a JSON object or array, got {quote(text)}")
    return value


def _decode_at(text, start, place):
    try:
        return _DECODER.raw_decode(text, start)
    except _Rejected as error:
        raise DocumentError(place, f"{error}, in the JSON text {quote(text)}") from None
    except RecursionError:
        raise DocumentError(place, "JSON text nested too deeply: flatten the document first") from None


def _mapping_without_repeated_keys(pairs):
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise _Rejected(f"the key {quote(repeated)} stands twice: give a list of values instead")
    return mapping


def _reject_constant(name):
    raise _Rejected(f"{name} is not a JSON value: use null for an absent one")


def _problem(error):
    return f"{error.msg} at line {error.lineno} column {error.colno}"


_DECODER = json.JSONDecoder(
    object_pairs_hook=_mapping_without_repeated_keys,
    parse_float=NumberText,
    parse_int=NumberText,
    parse_constant=_reject_constant,
)
