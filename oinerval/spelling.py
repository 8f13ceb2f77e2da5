"""Texts as sequences of letters that can be edited: their characters, or their words."""

from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist

from .text_forms import split_words

SURROGATES, NUMBER_OF_SURROGATES = 0xD800, 0x800
NUMBER_OF_CHARACTERS = 0x110000 - NUMBER_OF_SURROGATES


@dataclass(frozen=True)
class Spelling:
    """Distinct texts: the letters of each, how many they are, and a mask with one bit, of 64, set for each letter.

    Texts whose masks have no bit in common have no letter in common.
    """

    letters: np.ndarray
    length: np.ndarray
    mask: np.ndarray

    def distances_of_pairs(self, expected, found):
        pairs = self.letters[expected].tolist(), self.letters[found].tolist()
        return cpdist(*pairs, scorer=Levenshtein.distance, dtype=np.int32)


def distance_matrix(expected, found):
    return cdist(expected, found, scorer=Levenshtein.distance, dtype=np.int32)


def spell_characters(values):
    texts = values.to_pylist()
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4")
    return _spelling(texts, codes, np.fromiter(map(len, texts), np.int64, len(texts)))


def spell_words(values):
    """Every distinct word is written as one character, so that words are edited as fast as characters.

    >>> import pyarrow as pa
    >>> first, second = spell_words(pa.array(["rue de la Paix", " de  rue"])).letters
    >>> len(first), second == first[1] + first[0]
    (4, True)
    """
    codes, length = split_words(values)
    ends = np.cumsum(length).tolist()
    if codes.max(initial=0) < NUMBER_OF_CHARACTERS:
        codes += NUMBER_OF_SURROGATES * (codes >= SURROGATES)
        written = codes.astype("<u4").tobytes().decode("utf-32-le")
    else:
        written = codes.tolist()
    return _spelling([written[start:end] for start, end in zip([0, *ends], ends, strict=False)], codes, length)


def _spelling(letters, codes, length):
    mask = np.zeros(len(letters), np.uint64)
    filled = np.flatnonzero(length)
    if len(filled):
        bits = np.left_shift(np.uint64(1), (codes & 63).astype(np.uint64))
        starts = np.cumsum(length) - length
        mask[filled] = np.bitwise_or.reduceat(bits, starts[filled])
    return Spelling(np.fromiter(letters, object, len(letters)), length, mask)
