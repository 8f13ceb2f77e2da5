"""Random documents for property-based tests: few types and values, so that ties and repetitions abound."""

from hypothesis import strategies as st

VALUES = ["a", "b", "c", "dd"]


def entities(group_type="", max_size=4, values=VALUES, with_confidence=False):
    names = [f"{group_type}.name", f"{group_type}.price"] if group_type else ["total", "date"]
    fields = {"type": st.sampled_from(names), "value": st.sampled_from(values)}
    if with_confidence:
        fields["confidence"] = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
    return st.lists(st.fixed_dictionaries(fields), max_size=max_size)


def groups(values=VALUES, with_confidence=False, max_size=3):
    return st.sampled_from(["", "menu", "menu", "fee"]).flatmap(
        lambda group_type: st.fixed_dictionaries(
            {"type": st.just(group_type), "entities": entities(group_type, max_size, values, with_confidence)}
        )
    )


def documents(values=VALUES, with_confidence=False, max_groups=5):
    return st.lists(groups(values, with_confidence), max_size=max_groups)


def corpora(min_size=1, max_size=4, **options):
    """Lists of (prediction, reference)."""
    reference_options = {**options, "with_confidence": False}
    pair = st.tuples(documents(**options), documents(**reference_options))
    return st.lists(pair, min_size=min_size, max_size=max_size)
