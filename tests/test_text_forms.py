import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.columns import encode
from metrics.documents import to_arrow
from metrics.text_forms import normalize_text, normalize_values, read_forms, split_words


@pytest.mark.parametrize("normalize", ["", "upper", ["nfc", "x"], 3, {"nfc"}, "nfc,casefold", ["nfc+casefold"]])
def test_unknown_forms_are_refused(normalize):
    assert read_forms(normalize) is None


@given(st.text(st.characters(codec="utf-8")))
def test_folding_case_does_not_undo_the_composed_form(text):
    for forms in (("nfc",), ("nfkc",), ("nfc", "casefold"), ("nfkc", "casefold")):
        assert unicodedata.is_normalized(forms[0].upper(), normalize_text(text, forms))


def test_values_that_become_equal_get_one_code():
    batch = encode(to_arrow([[("a", "Ré"), ("a", "b")]]), to_arrow([[("a", "re\u0301")]]))
    normalised = normalize_values(batch, ("nfc", "casefold"))
    assert normalised.values.to_pylist() == ["b", "ré"]
    assert [side.entity_value.tolist() for side in normalised.sides] == [[1, 0], [1]]
    assert normalize_values(batch, ()) is batch


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_words_are_those_of_python(texts):
    codes, lengths = split_words(pa.array(texts, pa.string()))
    words = [text.split() for text in texts]
    assert lengths.tolist() == [len(of_text) for of_text in words]
    flat = [word for of_text in words for word in of_text]
    assert len(set(zip(codes.tolist(), flat, strict=True))) == len(set(flat)) == len(set(codes.tolist()))
