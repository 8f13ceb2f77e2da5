"""Answers of models that write: JSON text or Donut's tags -> documents, with a confidence for every value.

>>> parse_answer("<s_menu><s_name>Latte</s_name><sep/><s_name>Tea</s_name></s_menu>")
{'menu': [{'name': 'Latte'}, {'name': 'Tea'}]}
"""

import re
from dataclasses import dataclass, field

from .forms import ENTITY_KEYS_WITH_CONFIDENCE, MAX_DEPTH, normalise
from .json_text import JSON_START, parse_json_text
from .problems import DocumentError, quote

TAG = re.compile(r"<s_([^<>]+)>|</s_([^<>]+)>|<sep\s*/>")
CATEGORY = re.compile(r"<([^<>]+?)\s*/>")
JSON_SCALAR = re.compile(r'("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)(\s*:)?', re.DOTALL)
MARK = "\ue000"


@dataclass(frozen=True)
class Value:
    """A value of an answer, and the characters that it was read from."""

    content: object
    start: int
    end: int

    @property
    def text(self):
        if isinstance(self.content, bool):
            return "true" if self.content else "false"
        return "" if self.content is None else str(self.content)


def parse_answer(text, place=("answer",)):
    """The document in an answer."""
    if TAG.search(text):
        return _map_values(_parse_tags(text, place), lambda value: value.content)
    return parse_json_text(text, place)


def answer_with_confidence(text, probability, place=("answer",)):
    """The document in an answer as nested groups, where `probability(start, end)` is that of some characters.

    >>> answer_with_confidence('{"total": "3"}', lambda start, end: start / 100)[0]["entities"]
    [{'type': 'total', 'value': '3', 'confidence': 0.1}]
    """
    try:
        tree = _parse_tags(text, place) if TAG.search(text) else _locate(parse_json_text(text, place), text)
        return _normalise(tree, probability, (0, len(text)), place)
    except RecursionError:
        raise DocumentError(place, "an answer nested too deeply") from None


# Donut's tags


@dataclass
class Open:
    """An open tag: what stands in it so far, in items that <sep/> separates."""

    name: str | None
    items: list = field(default_factory=list)
    fields: dict = field(default_factory=dict)

    def end_item(self, value, place):
        if self.fields and value.text:
            raise DocumentError(place, f"text beside tags: {quote(value.text)}")
        one_or_all = {key: found[0] if len(found) == 1 else _join(found) for key, found in self.fields.items()}
        self.items.append(one_or_all or value)
        self.fields = {}

    @property
    def content(self):
        return self.items[0] if len(self.items) == 1 else self.items


def _join(found):
    """The contents of a tag that stands repeatedly, as one list."""
    return [item for content in found for item in (content if isinstance(content, list) else [content])]


def _parse_tags(text, place):
    """Mappings, lists and values. Every tag must be closed, only the first may be a prompt that is not."""
    tags, position = list(TAG.finditer(text)), 0
    if tags[0][1] and not any(tag[2] == tags[0][1] for tag in tags) and not text[: tags[0].start()].strip():
        position = tags.pop(0).end()
    opened = [Open(None)]
    for tag in tags:
        value = _value(text, position, tag.start())
        if tag[1]:
            if value.text:
                raise DocumentError(place, f"text beside tags: {quote(value.text)}")
            if len(opened) > MAX_DEPTH:
                raise DocumentError(place, f"tags nested deeper than {MAX_DEPTH} levels")
            opened.append(Open(tag[1]))
        else:
            opened[-1].end_item(value, place)
        if tag[2]:
            closed = opened.pop()
            if closed.name != tag[2]:
                raise DocumentError(place, f"{tag[0]} closes nothing: {quote(text)}")
            opened[-1].fields.setdefault(closed.name, []).append(closed.content)
        position = tag.end()
    if opened[1:]:
        raise DocumentError(place, f"<s_{opened[-1].name}> is not closed: {quote(text)}")
    opened[0].end_item(_value(text, position, len(text)), place)
    return opened[0].content


def _value(text, start, end):
    """The text between two tags; a category is written as a tag of its own, <paid/>."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    part = part.strip()
    category = CATEGORY.fullmatch(part)
    return Value(category[1] if category else part, start, start + len(part))


# JSON


def _locate(tree, text):
    """The same tree with values that know their characters: they stand in the text in the order of the tree."""
    start = JSON_START.search(text)
    scalars = JSON_SCALAR.finditer(text, start.start()) if start else ()
    spans = iter([scalar.span(1) for scalar in scalars if scalar[2] is None])
    return _map_values(tree, lambda content: Value(content, *next(spans, (0, len(text)))))


def _map_values(tree, function):
    if isinstance(tree, dict):
        return {key: _map_values(part, function) for key, part in tree.items()}
    if isinstance(tree, list):
        return [_map_values(part, function) for part in tree]
    return function(tree)


# Confidence


def _normalise(tree, probability, whole, place):
    """Nested groups in which every entity that has no confidence of its own gets that of its characters."""
    if isinstance(tree, dict) and set(tree) == {"tokens", "tags"}:
        return with_confidence(normalise(_map_values(tree, lambda v: v.content), place), probability(*whole))
    values = []
    groups = normalise(_mark(tree, values), place)
    for group in groups:
        group["type"] = _unmark(group["type"], values)[0]
        for entity in group["entities"]:
            entity["type"] = _unmark(entity["type"], values)[0]
            entity["value"], value = _unmark(entity["value"], values)
            span = (value.start, value.end) if value else whole
            entity.setdefault("confidence", probability(*span))
    return groups


def with_confidence(groups, confidence):
    """The groups, with this confidence for each entity that has none."""
    for group in groups:
        for entity in group["entities"]:
            entity.setdefault("confidence", confidence)
    return groups


def _mark(tree, values):
    """The tree with a number for each value, which finds it again wherever it stands in the normalised document."""
    if isinstance(tree, dict):
        is_entity = set(tree) == ENTITY_KEYS_WITH_CONFIDENCE
        return {
            key: part.content if is_entity and key == "confidence" and isinstance(part, Value) else _mark(part, values)
            for key, part in tree.items()
        }
    if isinstance(tree, list):
        return [_mark(part, values) for part in tree]
    values.append(tree)
    return f"{MARK}{len(values) - 1}"


def _unmark(text, values):
    if not text.startswith(MARK) or not text[1:].isdecimal():
        return text, None
    value = values[int(text[1:])]
    return value.text, value
