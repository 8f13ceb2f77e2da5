"""The benchmarks measure what they say: their corpora are fixed and the yardstick agrees with the module."""

import corpora
import plain_kieval
import pytest


@pytest.mark.parametrize("make", [corpora.receipts, corpora.invoices, corpora.table])
def test_plain_kieval_is_the_module_by_another_way(make, kieval):
    corpus = make(40)
    result = kieval.compute(**corpus)
    for name, value in plain_kieval.score(**corpus).items():
        assert result[name] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize(("make", "entities"), [(corpora.receipts, 13), (corpora.invoices, 34), (corpora.census, 300)])
def test_corpora_are_as_large_as_said_and_always_the_same(make, entities, kieval):
    corpus = make(5)
    assert corpus == make(5)
    result = kieval.compute(**corpus)
    assert (result["true_positives"] + result["false_negatives"]) / 5 == entities
    assert 0.7 < result["flat_entity_f1"] < 0.95
