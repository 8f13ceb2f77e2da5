"""What the pages draw: alignments, bars and charts, and that no value becomes markup."""

import re

import pytest

from metrics.charts import line_chart
from metrics.drawing import (
    draw_alignment,
    draw_bars,
    draw_documents,
    draw_other_input,
    draw_problem,
    draw_scores,
)

TAG = re.compile(
    r"<(?!/?(?:b|del|details|div|h2|h3|ins|li|p|section|small|span|summary|table|tbody|td|th|thead|tr|ul|wbr)\b)"
)
HOSTILE = '<img src=x onerror="alert(1)">${alert(1)}{{value}}'


def pair(group_type, prediction, reference, *entities):
    return {"type": group_type, "prediction": prediction, "reference": reference, "entities": list(entities)}


def entity(operation, prediction, reference, similarity=0.0, edits=(), **extra):
    values = {"type": "menu.name", "prediction": prediction, "reference": reference}
    return {"operation": operation, **values, "similarity": similarity, "edits": list(edits), **extra}


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html.replace("<wbr>", ""))).strip()


def test_operations_are_told_apart_by_sign_and_word():
    entities = [entity("match", "a", "a"), entity("add", None, "b"), entity("delete", "c", None)]
    drawn = text(draw_alignment([pair("menu", 0, 0, *entities)]))
    assert "= 1 same ≠ 0 to replace + 1 to add − 1 to delete" in drawn
    assert "= same menu.name a a + add menu.name none b − delete menu.name c none" in drawn


def test_character_edits_are_marked_inside_both_values():
    steps = [
        {"operation": "equal", "prediction": "La", "reference": "La"},
        {"operation": "replace", "prediction": "d", "reference": "tt"},
        {"operation": "equal", "prediction": "e", "reference": "e"},
    ]
    html = draw_alignment([pair("menu", 0, 0, entity("substitute", "Lade", "Latte", 0.6, steps))])
    assert ">La<del>d</del>e</td>" in html
    assert ">La<ins>tt</ins>e</td>" in html
    # of values that have little in common the whole is marked
    html = draw_alignment([pair("menu", 0, 0, entity("substitute", "Lade", "Latte", 0.1, steps))])
    assert "<del>Lade</del>" in html
    assert "<ins>Latte</ins>" in html


def test_groups_are_numbered_within_their_type_and_those_without_a_partner_stand_apart():
    one = entity("match", "a", "a")
    groups = [
        pair("menu", 3, 0, one),
        pair("total", 1, 1, one),
        pair("menu", None, 2, entity("add", None, "b")),
        pair("menu", 0, None, entity("delete", "c", None)),
    ]
    drawn = text(draw_alignment(groups))
    pairs, alone = drawn.split("Groups without a partner")
    assert "menu: predicted 2 ↔ reference 1" in pairs
    assert "total: predicted 1 ↔ reference 1" in pairs
    assert "menu: reference 2, not predicted" in alone
    assert "menu: predicted 1, not in the reference" in alone


def test_remarks_of_a_metric_are_shown():
    far = entity("substitute", "x", "y", cer=1.0, within_threshold=False)
    near = entity("substitute", "x", "y", cer=0.25, within_threshold=True)
    unused = entity("delete", "z", None, counted=False)
    drawn = text(draw_alignment([pair("", 0, 0, far, near, unused)]))
    assert "CER 1.00, too far" in drawn
    assert "CER 0.25, near" in drawn
    assert "not counted" in drawn
    assert "− 0 to delete" in drawn
    field = pair("total", 0, 0, entity("substitute", "x", "y")) | {"score": 0.5}
    unread = pair("note", 0, None, entity("delete", "x", None)) | {"score": None}
    assert "score 0.500" in text(draw_alignment([field, unread]))
    assert "not evaluated" in text(draw_alignment([field, unread]))


def test_fields_after_a_list_are_not_part_of_it():
    of_list = pair("prices", 0, 0, entity("match", "1", "1"), entity("match", "2", "2")) | {"score": 1.0}
    total = pair("total", 1, 1, entity("match", "3", "3")) | {"score": 1.0}
    bodies = re.findall(r"<tbody.*?</tbody>", draw_alignment([of_list, total]))
    assert ['class="captioned"' in body for body in bodies] == [True, False]
    assert [text(body) for body in bodies] == [
        "prices: score 1.000 = same 1 1 = same 2 2",
        "= same menu.name score 1.000 3 3",
    ]


def test_long_document_is_cut_and_says_so():
    rows = [pair("menu", index, index, *[entity("match", "a", "a")] * 3) for index in range(1000)]
    html = draw_alignment(rows)
    assert "too long to draw" in html
    assert len(html) < 200_000
    assert "= 3000 same" in text(html)
    assert "too long" not in draw_alignment(rows[:10])
    assert "x" * 601 not in draw_alignment([pair("", 0, 0, entity("match", "x" * 10**6, "x" * 10**6))])


def test_worst_types_stand_first_and_of_error_rates_more_is_worse():
    types = {"a": {"f1": 0.5, "beer": 0.5}, "b": {"f1": 0.1, "beer": 2.5}, "c": {"f1": 0.9, "beer": 0.0}}
    assert re.findall(r"[abc] \d\.\d+", text(draw_bars(types, "f1"))) == ["b 0.100", "a 0.500", "c 0.900"]
    assert re.findall(r"[abc] \d\.\d+", text(draw_bars(types, "beer"))) == ["b 2.500", "a 0.500", "c 0.000"]
    assert "width:100.0%" in draw_bars(types, "beer")


def test_interval_tells_its_level():
    result = {"aligned": 0.5, "intervals": {"aligned": [0.25, 0.75]}}
    assert "90 % within 0.250 to 0.750" in text(draw_scores(result, [("aligned", "")], 0.9))
    assert "within" not in text(draw_scores({"aligned": 0.5}, [("aligned", "")]))


def test_documents_of_a_corpus_are_called_what_they_are():
    drawn = text(draw_documents([("a", 0.5, []), ("b", 1.0, [])], "aligned", 2))
    assert drawn.startswith("Documents, the worst first 2 of 2 documents")


@pytest.mark.parametrize("operation", ["match", "substitute", "add", "delete"])
def test_no_value_becomes_markup(operation):
    steps = [{"operation": "replace", "prediction": HOSTILE, "reference": HOSTILE}]
    hostile = entity(operation, HOSTILE, HOSTILE, 0.9, steps) | {"type": HOSTILE}
    groups = [
        pair(HOSTILE, 0, 0, hostile),
        pair(HOSTILE, None, 1, hostile),
        pair(HOSTILE, 1, 1, hostile) | {"score": 1.0},
    ]
    pieces = [
        draw_alignment(groups),
        draw_documents([(HOSTILE, 0.5, groups)], "aligned", 1),
        draw_scores({HOSTILE: 0.5}, [(HOSTILE, HOSTILE)]),
        draw_bars({HOSTILE: {"f1": 0.5}}, "f1"),
        draw_problem(HOSTILE),
        draw_other_input(HOSTILE),
        line_chart([(0, 0), (1, 1)], x_label=HOSTILE, y_label="y", description=HOSTILE),
    ]
    for piece in pieces:
        assert "onerror" in piece
        assert not TAG.search(re.sub(r"</?(?:svg|line|text|polyline|circle|title)\b", "", piece))
        assert not re.search(r"[${}`]", piece)


def test_chart_names_its_axes_and_starts_where_its_labels_say():
    svg = line_chart(
        [(0.2, 0.85), (1, 0.95)], x_label="rate", y_label="aligned", description="d", marked=(1, 0.95), level=0.9
    )
    assert {">rate<", ">aligned<", ">0.8<", ">1<", ">target 0.9<"} <= set(re.findall(r">[^<>]+<", svg))
    assert 'class="mark"' in svg
    # 0.85 stands a quarter of the way up from 0.8 to 1
    assert '<circle cx="129.2" cy="158.0"' in svg
