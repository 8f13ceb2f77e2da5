"""What some options add to the result of a system, as text: its operating point, its curve, its worst documents."""

from .drawing import rank_worst_first
from .tables import format_number, format_table

POINTS_SHOWN = 12
DOCUMENTS_SHOWN = 10


def describe_details(system, result, main_score, target=None):
    """The blocks of text that a result calls for."""
    blocks = []
    if "operating_point" in result:
        blocks.append(describe_operating_point(system, result["operating_point"], target))
    if "curve" in result:
        blocks.append(describe_curve(system, result["curve"]))
    if "per_document" in result:
        blocks.append(describe_worst(system, result, main_score))
    return blocks


def describe_operating_point(system, point, target):
    """
    >>> describe_operating_point("a", None, 0.985)
    'a reaches 98.5 % aligned with no threshold of its confidence.'
    """
    if point is None:
        return f"{system} reaches {target * 100:g} % aligned with no threshold of its confidence."
    return (
        f"{system} reaches {point['aligned'] * 100:.1f} % aligned when predictions with a confidence below "
        f"{point['threshold']!r} are reviewed: {point['automation_rate'] * 100:.0f} % need no review."
    )


def describe_curve(system, points):
    """
    >>> print(describe_curve("a", [{"threshold": 0.25, "f1": 0.5}, {"threshold": 0.5, "f1": 1.0}]))
    Curve of a
    threshold  f1
    0.25       0.500
    0.5        1.000
    """
    shown = _choose_evenly(points, POINTS_SHOWN)
    rows = [[f"{point['threshold']:g}", *(format_number(point[name]) for name in point if name != "threshold")]
            for point in shown]  # fmt: skip
    some = f", {len(shown)} of {len(points)} points" if len(shown) < len(points) else ""
    return f"Curve of {system}{some}\n{format_table(list(points[0]), rows)}"


def describe_worst(system, result, score):
    """
    >>> print(describe_worst("a", {"per_document": [{"f1": 1.0}, {"f1": 0.5}], "document_ids": ["x", "y"]}, "f1"))
    Worst documents of a
    document  f1
    y         0.500
    x         1.000
    """
    values = [scores[score] for scores in result["per_document"]]
    ids = result.get("document_ids")
    worst = rank_worst_first(values, score)[:DOCUMENTS_SHOWN]
    rows = [[ids[index] if ids else str(index), format_number(values[index])] for index in worst]
    some = f", {len(worst)} of {len(values)}" if len(worst) < len(values) else ""
    return f"Worst documents of {system}{some}\n{format_table(['document' if ids else 'position from 0', score], rows)}"


def _choose_evenly(items, number):
    """
    >>> _choose_evenly(list(range(101)), 5), _choose_evenly([1, 2], 5)
    ([0, 25, 50, 75, 100], [1, 2])
    """
    if len(items) <= number:
        return items
    return [items[round(step * (len(items) - 1) / (number - 1))] for step in range(number)]
