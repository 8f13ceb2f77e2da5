"""Unicode forms of texts, so that accents, ligatures and case need not count as errors; and the words of texts."""

import dataclasses
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import encode_jointly

FORMS = ("nfc", "nfkc", "casefold")


def read_forms(normalize):
    """The forms that an option names, in the order they are applied; None where it names something else.

    >>> read_forms("casefold+nfkc"), read_forms(["nfc"]), read_forms(None), read_forms("upper")
    (('nfkc', 'casefold'), ('nfc',), (), None)
    """
    if normalize is None:
        return ()
    names = normalize.split("+") if isinstance(normalize, str) else normalize
    if not isinstance(names, list | tuple) or not all(name in FORMS for name in names):
        return None
    return tuple(form for form in FORMS if form in names and not (form == "nfc" and "nfkc" in names))


def describe_forms(forms):
    return "+".join(forms) or "none"


def normalize_text(text, forms):
    """The text in these forms. Folding case can undo a composed form, so that is applied again.

    >>> normalize_text("ﬁn E\u0301", ("nfkc", "casefold"))
    'fin é'
    """
    composed = next((form.upper() for form in forms if form != "casefold"), None)
    if composed:
        text = unicodedata.normalize(composed, text)
    if "casefold" in forms:
        text = text.casefold()
        text = unicodedata.normalize(composed, text) if composed else text
    return text


def normalize_values(batch, forms):
    """The batch with every value in these forms; each distinct value is treated once."""
    if not forms:
        return batch
    texts = pa.array([normalize_text(text, forms) for text in batch.values.to_pylist()], pa.string())
    values, (codes,) = encode_jointly([texts])
    sides = (dataclasses.replace(side, entity_value=codes[side.entity_value]) for side in batch.sides)
    return dataclasses.replace(batch.with_sides(*sides), values=values)


def split_words(values):
    """The words of all texts as codes, equal for equal words, and how many words each text has.

    >>> [column.tolist() for column in split_words(pa.array(["rue de la Paix", " ", " de  rue"]))]
    [[0, 1, 2, 3, 1, 0], [4, 0, 2]]
    """
    trimmed = pc.utf8_trim_whitespace(values)
    lists = pc.utf8_split_whitespace(trimmed)
    words = lists.flatten()
    codes = words.filter(pc.not_equal(words, "")).dictionary_encode().indices.to_numpy().astype(np.int64)
    numbers = pc.if_else(pc.equal(trimmed, ""), 0, pc.list_value_length(lists))
    return codes, numbers.to_numpy().astype(np.int64)
