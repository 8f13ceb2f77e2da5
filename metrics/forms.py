"""Any accepted form of one document -> nested groups, or an error that says where it is wrong.

>>> normalise({"menu": [{"name": "Latte", "price": 4.5}], "date": "12 mars"})
... # doctest: +NORMALIZE_WHITESPACE
[{'type': 'menu', 'entities': [{'type': 'menu.name', 'value': 'Latte'}, {'type': 'menu.price', 'value': '4.5'}]},
 {'type': '', 'entities': [{'type': 'date', 'value': '12 mars'}]}]
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from numbers import Number

import numpy as np

from .json_text import NumberText, parse_json_text
from .problems import DocumentError, quote

FORMS = "a document (groups, mapping, entities, tagged tokens or JSON text)"
MAX_DEPTH = 100
GROUP_KEYS = frozenset({"type", "entities"})
ENTITY_KEYS = frozenset({"type", "value"})
ENTITY_KEYS_WITH_CONFIDENCE = ENTITY_KEYS | {"confidence"}
SEQUENCES = (list, tuple, np.ndarray)


def normalise(document, place=("document",)):
    """One document in any form, as nested groups; absent values are kept as the empty string."""
    if isinstance(document, str):
        document = parse_json_text(document, place)
    if isinstance(document, Mapping):
        if _is_tagged_tokens(document):
            return _from_tagged_tokens(document, place)
        if set(document) == GROUP_KEYS and isinstance(document["entities"], SEQUENCES):
            raise DocumentError(place, "this is one group; a document is a list of groups: write [{..}]")
        _refuse_more_than_tagged_tokens(document, place)
        return _from_mapping(document, place)
    if isinstance(document, SEQUENCES):
        return _from_list(list(document), place)
    raise DocumentError(place, f"expected {FORMS}, got {_type_name(document)}")


# Lists of groups and of entities


def _from_list(items, place):
    if not items:
        return []
    if all(isinstance(item, Mapping) and "entities" in item for item in items):
        return [_group(item, (*place, index)) for index, item in enumerate(items)]
    return [{"type": "", "entities": [_flat_entity(item, (*place, index)) for index, item in enumerate(items)]}]


def _group(group, place):
    _check_keys(group, GROUP_KEYS, GROUP_KEYS, "group", place)
    if not isinstance(group["entities"], SEQUENCES):
        found = _type_name(group["entities"])
        raise DocumentError((*place, "entities"), f"expected a list of entities, got {found}")
    return {
        "type": _type_of(group, "group", place),
        "entities": [_entity(e, (*place, "entities", index)) for index, e in enumerate(group["entities"])],
    }


def _flat_entity(item, place):
    if isinstance(item, Mapping):
        if "entities" in item:
            raise DocumentError(place, "a group among entities: give only groups, or only entities")
        return _entity(item, place)
    if isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str):
        return {"type": _text(item[0], place), "value": _scalar(item[1], (*place, 1))}
    if isinstance(item, list | tuple):
        remedy = 'with a confidence write {"type": .., "value": .., "confidence": ..}'
        raise DocumentError(place, f"expected a (type, value) pair; {remedy}")
    raise DocumentError(
        place,
        f"expected a group {{'type', 'entities'}}, an entity {{'type', 'value'}} or a (type, value) pair, "
        f"got {_type_name(item)}",
    )


def _entity(entity, place):
    if not isinstance(entity, Mapping):
        raise DocumentError(place, f"expected an entity {{'type', 'value'}}, got {_type_name(entity)}")
    _check_keys(entity, ENTITY_KEYS, ENTITY_KEYS_WITH_CONFIDENCE, "entity", place)
    plain = {"type": _type_of(entity, "entity", place), "value": _scalar(entity["value"], (*place, "value"))}
    if entity.get("confidence") is not None:
        plain["confidence"] = _confidence(entity["confidence"], (*place, "confidence"))
    return plain


def _check_keys(mapping, required, allowed, what, place):
    if missing := sorted(required - set(mapping)):
        raise DocumentError(place, f"this {what} has no {' and no '.join(map(repr, missing))}")
    if unknown := [key for key in mapping if key not in allowed]:
        raise DocumentError(
            place, f"unknown key {quote(unknown[0])} in this {what}; it may have {', '.join(sorted(allowed))}"
        )


def _type_of(mapping, what, place):
    if not isinstance(mapping["type"], str):
        found = _type_name(mapping["type"])
        raise DocumentError((*place, "type"), f"the type of this {what} must be text, got {found}")
    return _text(mapping["type"], (*place, "type"))


def _confidence(confidence, place):
    if isinstance(confidence, NumberText):
        confidence = float(confidence)
    if isinstance(confidence, bool | np.bool_) or not isinstance(confidence, Number):
        raise DocumentError(place, f"confidence must be a number between 0 and 1, got {_type_name(confidence)}")
    confidence = float(confidence)
    if not 0 <= confidence <= 1:
        raise DocumentError(place, f"confidence must be a number between 0 and 1, got {confidence}")
    return confidence


# Mappings


def _from_mapping(mapping, place):
    """The groups in the order of their keys; entities of no group stand where the first of them does."""
    groups, ungrouped = [], {"type": "", "entities": []}

    def add_ungrouped(entities):
        if entities and not ungrouped["entities"]:
            groups.append(ungrouped)
        ungrouped["entities"] += entities

    for key, value in mapping.items():
        path = _key_path("", key, place)
        if _is_plain(value):
            add_ungrouped([{"type": path, "value": value}])
        elif type(value) is list and all(map(_is_plain, value)):
            add_ungrouped([{"type": path, "value": item} for item in value])
        else:
            for item, item_place in _items(value, (*place, key)):
                if _is_mapping(item):
                    entities = []
                    _flatten(path, item, item_place, entities, depth=len(item_place))
                    groups.append({"type": path, "entities": entities})
                else:
                    add_ungrouped([{"type": path, "value": _scalar(item, item_place)}])
    return groups


def _flatten(prefix, mapping, place, entities, depth):
    """Adds the entities of a mapping inside a group, with their dotted paths."""
    if depth > MAX_DEPTH:
        raise DocumentError(place[:4], f"nested deeper than {MAX_DEPTH} levels: flatten the document first")
    for key, value in mapping.items():
        path = _key_path(prefix, key, place)
        if _is_plain(value):
            entities.append({"type": path, "value": value})
            continue
        for item, item_place in _items(value, (*place, key)):
            if _is_mapping(item):
                _flatten(path, item, item_place, entities, depth + 1)
            else:
                entities.append({"type": path, "value": _scalar(item, item_place)})


def _items(value, place):
    """What a value holds, and where: the items of a list, or the value itself."""
    if isinstance(value, SEQUENCES):
        return [(item, (*place, index)) for index, item in enumerate(value)]
    return [(value, place)]


def _is_mapping(value):
    return type(value) is dict or isinstance(value, Mapping)


def _key_path(prefix, key, place):
    if (path := _join_path(prefix, key)) is not None:
        return path
    if not isinstance(key, str):
        raise DocumentError(place, f"keys must be text, got {_type_name(key)} {quote(key)}: write it as text")
    _text(key, place)
    raise DocumentError(place, "an empty key: name the entity type")


@lru_cache(maxsize=65_536)
def _join_path(prefix, key):
    """The dotted path of a key, or None where it is no text. Data sets have few keys and many documents."""
    if not isinstance(key, str) or not key or not _is_encodable(key):
        return None
    return str(key) if not prefix or key.startswith(prefix + ".") else f"{prefix}.{key}"


# Tagged tokens


def _is_tagged_tokens(document):
    return set(document) == {"tokens", "tags"} and all(isinstance(v, SEQUENCES) for v in document.values())


def _refuse_more_than_tagged_tokens(document, place):
    """Words and tags that another key accompanies are not meant as a mapping of entities."""
    tokens, tags = document.get("tokens"), document.get("tags")
    if not (isinstance(tokens, SEQUENCES) and isinstance(tags, SEQUENCES) and len(tokens) == len(tags) > 0):
        return
    if all(isinstance(tag, str) and (tag == "O" or tag[:2] in ("B-", "I-")) for tag in tags):
        other = next(key for key in document if key not in ("tokens", "tags"))
        raise DocumentError(place, f"unknown key {quote(other)} beside tokens and tags: leave it out")


def _from_tagged_tokens(document, place):
    """One entity per span, and per run of untagged words one of type "".

    A document without untagged words gets an empty one, so that it can still be told from other forms:
    the order of its entities is that of a text.
    """
    tokens, tags = document["tokens"], document["tags"]
    if len(tokens) != len(tags):
        raise DocumentError(place, f"{len(tokens)} tokens but {len(tags)} tags: give one tag for each token")
    spans = []
    for index, (token, tag) in enumerate(zip(tokens, tags, strict=True)):
        entity_type, begins = _read_tag(tag, (*place, "tags", index))
        word = _scalar(token, (*place, "tokens", index)).strip()
        if begins or not spans or spans[-1][0] != entity_type:
            spans.append((entity_type, []))
        if word:
            spans[-1][1].append(word)
    entities = [{"type": entity_type, "value": " ".join(words)} for entity_type, words in spans if words]
    if all(entity["type"] for entity in entities):
        entities.append({"type": "", "value": ""})
    return [{"type": "", "entities": entities}]


def _read_tag(tag, place):
    """('name', True) for B-name, ('name', False) for I-name, ('', False) for O."""
    if tag == "O":
        return "", False
    if isinstance(tag, str) and len(tag) > 2 and tag[:2] in ("B-", "I-"):
        return _text(tag[2:], place), tag[0] == "B"
    raise DocumentError(place, f"expected an IOB2 tag (O, B-type or I-type), got {quote(tag)}")


# Values


def _is_plain(value):
    """Whether a value needs no look: models mostly write such, and to look at each costs most of the reading."""
    return type(value) is str and value.isascii()


def _scalar(value, place):
    """The text of a value: JSON text of numbers and booleans, "" for None."""
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number) and not isinstance(value, complex):
        return _number_text(value, place)
    remedy = "; a list inside a list has no meaning here" if isinstance(value, SEQUENCES) else ""
    raise DocumentError(place, f"expected a text, number, boolean or None, got {_type_name(value)}{remedy}")


def _number_text(number, place):
    try:
        if math.isfinite(number):
            return str(number)
    except (ValueError, OverflowError):
        raise DocumentError(place, "a number of too many digits: write it as text") from None
    raise DocumentError(place, f"{number} is not a value: use None for an absent one")


def _text(text, place):
    if not _is_encodable(text):
        raise DocumentError(
            place,
            f"a lone surrogate in {quote(text)}: decode the source as UTF-8, or replace such characters",
        )
    return text if type(text) is str else str(text)


def _is_encodable(text):
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _type_name(value):
    return type(value).__name__
