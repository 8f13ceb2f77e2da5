"""Documents in any form -> nested groups -> Arrow.

A document is a list of groups, a group has a type and entities, an entity a type, a value and maybe a
confidence. `to_arrow` reads a list of documents, in any of the forms of `forms`, into one Arrow array.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .forms import ENTITY_KEYS, GROUP_KEYS, SEQUENCES, normalise
from .problems import DocumentError, quote

ENTITY = pa.struct([("type", pa.string()), ("value", pa.string()), ("confidence", pa.float64())])
GROUP = pa.struct([("type", pa.string()), ("entities", pa.list_(ENTITY))])
DOCUMENT = pa.list_(GROUP)

# Few enough that what one pass leaves in the processor's cache serves the next.
READ_AT_ONCE = 500


def to_arrow(documents, side="predictions", on_invalid="raise", places=None):
    """Documents in any form, as an Arrow array of nested groups. A null stands for an unparsable answer.

    Absent values (None, "" and white space) are left out; empty groups stay. Errors name the document by its
    position, or by its entry in `places`.

    >>> to_arrow([{"total": "3"}, '{"total": 4}']).to_pylist()[1]
    [{'type': '', 'entities': [{'type': 'total', 'value': '4', 'confidence': None}]}]
    """
    if isinstance(documents, pa.ChunkedArray | pa.Array):
        documents = _checked_arrow(documents, side)
        if isinstance(documents, pa.Array):
            return _without_absent_values(documents)
    documents = list_documents(documents, side)
    may_be_invalid = side == "predictions" and on_invalid == "empty"
    parts = [pa.array([], DOCUMENT)]
    for start in range(0, len(documents), READ_AT_ONCE):
        some = documents[start : start + READ_AT_ONCE]
        if columns := _columns_of_plain_groups(some) or _columns_of_plain_pairs(some):
            parts.append(_assemble(*columns))
        else:
            numbers = range(start, start + len(some))
            some_places = [(places[number],) if places else (side, number) for number in numbers]
            parts.append(_normalise_to_arrow(some, some_places, may_be_invalid))
    return _without_absent_values(pa.concat_arrays(parts))


def _normalise_to_arrow(documents, places, may_be_invalid):
    normalised = [
        _normalise_or_mark(document, place, may_be_invalid) for document, place in zip(documents, places, strict=True)
    ]
    invalid = [document is None for document in normalised]
    return _assemble(*_columns_of_plain_groups([document or [] for document in normalised]), invalid=invalid)


def plain_groups_to_arrow(documents):
    """The same for a list that holds nothing but nested groups of plain Python; None where there is anything else."""
    columns = _columns_of_plain_groups(documents)
    return None if columns is None else _without_absent_values(_assemble(*columns, invalid=[False] * len(documents)))


# Grouping by names that repeat


def group_entities(document, groups):
    """A document in any form whose ungrouped components are put into groups, as nested groups.

    `groups` maps a group type to the names of its components. In reading order a name that repeats opens a new
    group: the heuristic of the VRDU benchmark, which also serves models that tag words. All else stays as it is.

    >>> tagged = {"tokens": ["Tea", "3.00", "Pie"], "tags": ["B-item", "B-price", "B-item"]}
    >>> for group in group_entities(tagged, {"line": ["item", "price"]})[1:]:
    ...     print(group["type"], [entity["value"] for entity in group["entities"]])
    line ['Tea', '3.00']
    line ['Pie']
    """
    owner = owners_of_components(groups)
    kept, components = [], {group_type: [] for group_type in groups}
    for group in normalise(document):
        if group["type"] != "":
            kept.append(group)
            continue
        is_component = [entity["type"] in owner and bool(entity["value"].strip()) for entity in group["entities"]]
        rest = [entity for entity, is_taken in zip(group["entities"], is_component, strict=True) if not is_taken]
        if rest or not any(is_component):
            kept.append({"type": "", "entities": rest})
        for entity, is_taken in zip(group["entities"], is_component, strict=True):
            if is_taken:
                components[owner[entity["type"]]].append(entity)
    for group_type, entities in components.items():
        opened = {}
        for entity, number in zip(entities, number_groups([e["type"] for e in entities]), strict=True):
            opened.setdefault(number, []).append(entity)
        kept += [{"type": group_type, "entities": members} for members in opened.values()]
    return kept


def owners_of_components(groups):
    """Component -> its group type, of a mapping from group types to the names of their components.

    >>> owners_of_components({"line": ["item", "price"], "tax": ["price"]})
    Traceback (most recent call last):
    ValueError: groups: 'price' is a component of 'line' and of 'tax'; it can be in one only
    """
    if not isinstance(groups, Mapping):
        raise ValueError(f"groups must map group types to lists of names, got {type(groups).__name__}")
    owner = {}
    for group_type, names in groups.items():
        is_list = isinstance(names, SEQUENCES) and len(names) > 0
        if not isinstance(group_type, str) or not group_type or not is_list:
            raise ValueError(f"groups: expected a name and a list of its components, got {quote(group_type)}")
        for name in names:
            if not isinstance(name, str) or not name:
                raise ValueError(f"groups[{quote(group_type)}]: expected the name of a component, got {quote(name)}")
            if owner.setdefault(name, group_type) != group_type:
                both = f"of {quote(owner[name])} and of {quote(group_type)}"
                raise ValueError(f"groups: {quote(name)} is a component {both}; it can be in one only")
    return owner


def number_groups(names):
    """For names in reading order the number of the group each belongs to: a name that repeats opens a new one.

    >>> number_groups(["A", "B", "C", "B", "C", "A", "C"])
    [0, 0, 0, 1, 1, 1, 2]
    """
    numbers, number, seen = [], 0, set()
    for name in names:
        if name in seen:
            number, seen = number + 1, set()
        seen.add(name)
        numbers.append(number)
    return numbers


# Documents of a batch


def list_documents(documents, side):
    """Documents as a list, whatever iterable they come in."""
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise DocumentError((side,), f"expected a list of documents, got {type(documents).__name__}: write [..]")
    return documents if isinstance(documents, list) else list(documents)


def _checked_arrow(documents, side):
    """An Arrow column of nested groups as it is; any other as Python documents."""
    if isinstance(documents, pa.ChunkedArray):
        documents = documents.combine_chunks()
    if documents.type != DOCUMENT:
        return documents.to_pylist()
    entities = pc.list_flatten(pc.struct_field(pc.list_flatten(documents), "entities"))
    confidence = pc.struct_field(entities, "confidence").drop_null()
    is_sound = (
        (side == "predictions" or documents.null_count == 0)
        and pc.struct_field(pc.list_flatten(documents), "type").null_count == 0
        and pc.struct_field(entities, "type").null_count == 0
        and pc.all(pc.and_(pc.greater_equal(confidence, 0), pc.less_equal(confidence, 1))).as_py() is not False
    )
    return documents if is_sound else documents.to_pylist()


def _normalise_or_mark(document, place, may_be_invalid):
    """Nested groups, or None where an answer given as text holds no document and that is allowed."""
    try:
        return normalise(document, place)
    except DocumentError:
        if may_be_invalid and isinstance(document, str):
            return None
        raise


def _columns_of_plain_groups(documents):
    """The flat columns of nested groups, or None where anything needs `normalise` to judge it.

    Every step is one pass in C over a flat list: this is the path that a training loop takes.
    """
    if not _all_of_type(documents, list):
        return None
    try:
        groups = list(chain.from_iterable(documents))
        entity_lists = list(map(itemgetter("entities"), groups))
        group_types = list(map(itemgetter("type"), groups))
        if not _all_of_type(entity_lists, list) or set(map(len, groups)) - {len(GROUP_KEYS)}:
            return None
        entities = list(chain.from_iterable(entity_lists))
        types = list(map(itemgetter("type"), entities))
        values = list(map(itemgetter("value"), entities))
        if (confidences := _plain_confidences(entities)) is None:
            return None
        columns = [_text_column(texts) for texts in (group_types, types, values)]
    except (KeyError, TypeError, IndexError, UnicodeEncodeError):
        return None
    return _offsets(documents), _offsets(entity_lists), *columns, confidences


def _columns_of_plain_pairs(documents):
    """The same for documents that are lists of (type, value)."""
    if not _all_of_type(documents, list):
        return None
    pairs = list(chain.from_iterable(documents))
    if not set(map(type, pairs)) <= {tuple, list} or set(map(len, pairs)) != {2}:
        return None
    types, values = ([pair[part] for pair in pairs] for part in (0, 1))
    if not _all_of_type(types, str) or not _all_of_type(values, str):
        return None
    filled = [document for document in documents if document]
    try:
        columns = [pa.array(column, pa.string()) for column in ([""] * len(filled), types, values)]
    except UnicodeEncodeError:
        return None
    offsets = np.concatenate([[0], np.cumsum([bool(document) for document in documents], dtype=np.int64)])
    return offsets, _offsets(filled), *columns, pa.nulls(len(pairs), pa.float64())


def _all_of_type(items, expected):
    return set(map(type, items)) <= {expected}


def _text_column(texts):
    """An Arrow column of texts. Arrow would take bytes and None too; joining refuses them."""
    "".join(texts)
    return pa.array(texts, pa.string())


def _plain_confidences(entities):
    """The column of confidences, or None where an entity has other keys or a confidence is not plain."""
    sizes = set(map(len, entities))
    if not sizes - {len(ENTITY_KEYS)}:
        return pa.nulls(len(entities), pa.float64())
    confidences = [entity.get("confidence") for entity in entities]
    has_other_keys = any(len(entity) != len(ENTITY_KEYS) + ("confidence" in entity) for entity in entities)
    if has_other_keys or not all(c is None or type(c) is float and 0 <= c <= 1 for c in confidences):
        return None
    return pa.array(confidences, pa.float64())


def _offsets(lists):
    return np.concatenate([[0], np.cumsum(list(map(len, lists)), dtype=np.int64)])


def _assemble(group_offsets, entity_offsets, group_types, types, values, confidences, invalid=()):
    entities = pa.StructArray.from_arrays([types, values, confidences], fields=list(ENTITY))
    entity_lists = pa.ListArray.from_arrays(pa.array(entity_offsets, pa.int32()), entities, pa.list_(ENTITY))
    groups = pa.StructArray.from_arrays([group_types, entity_lists], fields=list(GROUP))
    mask = pa.array(invalid) if any(invalid) else None
    return pa.ListArray.from_arrays(pa.array(group_offsets, pa.int32()), groups, DOCUMENT, mask=mask)


def _without_absent_values(documents):
    """The same documents without entities that have no value. Untagged text (type "") stays: see tagged tokens."""
    groups = documents.flatten()
    lists = pc.struct_field(groups, "entities")
    entities = lists.flatten()
    values, types = pc.struct_field(entities, "value"), pc.struct_field(entities, "type")
    blank = pc.fill_null(pc.or_(pc.equal(pc.binary_length(values), 0), pc.utf8_is_space(values)), True)
    keep = pc.invert(pc.and_(blank, pc.not_equal(types, "")))
    if pc.all(keep).as_py() is not False:
        return documents
    kept_before = np.concatenate([[0], np.cumsum(keep.to_numpy(zero_copy_only=False))])
    entity_offsets = kept_before[_list_offsets(lists)]
    return _assemble(
        _list_offsets(documents),
        entity_offsets,
        pc.struct_field(groups, "type"),
        *(pc.struct_field(entities.filter(keep), name) for name in ("type", "value", "confidence")),
        invalid=documents.is_null().to_pylist(),
    )


def _list_offsets(lists):
    """Offsets into `lists.flatten()`, also where `lists` is a slice or has nulls."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
