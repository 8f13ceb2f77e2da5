"""Results and alignments as HTML. Every value passes through `escape`."""

from .markup import breakable, escape, number

# operation -> (sign, word): told apart without colour too
OPERATIONS = {
    "match": ("=", "same"),
    "substitute": ("≠", "replace"),
    "add": ("+", "add"),
    "delete": ("−", "delete"),
}
EDITS_FROM_SIMILARITY = 0.3
GROUPS_DRAWN = 60
ENTITIES_DRAWN = 200
CHARACTERS_DRAWN = 600
TYPES_DRAWN = 30
# Of these more is worse; of all other scores less is.
ERROR_RATES = frozenset({"oiecer", "oiewer", "ecer", "ewer", "cer", "wer", "beer", "btwer", "bwer"})


def rank_worst_first(values, score):
    """Positions of values of a score, the worst first, equal ones in their order.

    >>> rank_worst_first([0.2, 0.9, 0.5], "aligned"), rank_worst_first([0.2, 0.9, 0.5], "oiecer")
    ([0, 2, 1], [1, 2, 0])
    """
    sign = -1 if score in ERROR_RATES else 1
    return sorted(range(len(values)), key=lambda position: sign * values[position])


def draw_section(title, body, note=""):
    note = f'<p class="note">{note}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{note}{body}</section>" if body else ""


# Scores


def draw_scores(result, scores, level=None):
    """Cards of (name, sentence): the value, its interval of a confidence level if there is one, what it means."""
    cards = "".join(_card(result, name, sentence, level) for name, sentence in scores if name in result)
    return f'<div class="cards">{cards}</div>'


def _card(result, name, sentence, level):
    low_and_high = result.get("intervals", {}).get(name)
    interval = (
        f'<p class="interval">{level * 100:g} % within {low_and_high[0]:.3f} to {low_and_high[1]:.3f}</p>'
        if low_and_high
        else ""
    )
    return (
        f'<div class="card" data-score="{escape(name)}"><h3>{breakable(name)}</h3>'
        f'<p class="value">{escape(number(result[name]))}</p>{interval}<p class="meaning">{escape(sentence)}</p></div>'
    )


def draw_all_scores(result):
    plain = {name: value for name, value in result.items() if isinstance(value, int | float | str)}
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(number(value))}</td></tr>" for name, value in plain.items())
    return (
        f'<details><summary>All {len(plain)} scores and counts</summary><table class="plain">{rows}</table></details>'
    )


def draw_bars(per_type, score):
    """A table with a bar for each type, the worst first. A bar ends at 1; the number tells what lies beyond."""
    if not per_type:
        return ""
    types = sorted(per_type)
    ranked = rank_worst_first([per_type[name][score] for name in types], score)
    rows = "".join(_bar(types[position], per_type[types[position]][score]) for position in ranked[:TYPES_DRAWN])
    more = len(types) - TYPES_DRAWN
    note = f'<p class="note">{more} more types are in the download.</p>' if more > 0 else ""
    return f'<table class="bars"><tbody>{rows}</tbody></table>{note}'


def _bar(name, value):
    width = max(0.0, min(1.0, value)) * 100
    return (
        f'<tr><th scope="row">{breakable(name or "(none)")}</th>'
        f'<td class="bar"><span style="width:{width:.1f}%"></span></td>'
        f"<td>{escape(number(float(value)))}</td></tr>"
    )


# Alignment


def draw_alignment(groups):
    """Pairs of groups with their entities side by side, then the groups that found no partner."""
    if not any(group["entities"] for group in groups):
        return '<p class="note">Nothing to find, and nothing was found.</p>'
    numbers = _number_groups(groups)
    drawn, left = [], ENTITIES_DRAWN
    for position, group in enumerate(groups[:GROUPS_DRAWN]):
        if left <= 0:
            break
        is_pair = group["type"] == "" or "score" in group or None not in (group["prediction"], group["reference"])
        caption = "" if group["type"] == "" and len(groups) == 1 else _caption(group, *numbers[position])
        drawn.append((is_pair, _group(group, caption, left)))
        left -= len(group["entities"])
    pairs = [html for is_pair, html in drawn if is_pair]
    alone = [html for is_pair, html in drawn if not is_pair]
    more = '<p class="note">The rest of this document is too long to draw.</p>' if _is_cut(groups) else ""
    return f"{_tally(groups)}{_table('', pairs)}{_table('Groups without a partner', alone)}{more}"


def _table(title, bodies):
    if not bodies:
        return ""
    title = f"<h3>{title}</h3>" if title else ""
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("correction", "type", "prediction", "reference"))
    return f'{title}<table class="alignment"><thead><tr>{heads}</tr></thead>{"".join(bodies)}</table>'


def _is_cut(groups):
    return len(groups) > GROUPS_DRAWN or sum(len(group["entities"]) for group in groups) > ENTITIES_DRAWN


def _tally(groups):
    entities = [entity for group in groups for entity in group["entities"]]
    operations = [entity["operation"] for entity in entities if entity.get("counted", True)]
    items = "".join(
        f'<li class="{name}"><b>{sign}</b> {operations.count(name)} {"" if name == "match" else "to "}{word}</li>'
        for name, (sign, word) in OPERATIONS.items()
    )
    return f'<ul class="tally">{items}</ul>'


def _number_groups(groups):
    """(number of the predicted group, number of the reference group), counted within their type."""
    numbers = [{} for _ in groups]
    for side in ("prediction", "reference"):
        seen = {}
        present = [position for position, group in enumerate(groups) if group[side] is not None]
        for position in sorted(present, key=lambda position: groups[position][side]):
            seen[groups[position]["type"]] = seen.get(groups[position]["type"], 0) + 1
            numbers[position][side] = seen[groups[position]["type"]]
    return [(found.get("prediction"), found.get("reference")) for found in numbers]


def _group(group, caption, left):
    """The entities of a pair of groups under its caption. A field of one value needs none."""
    rows = "".join(_entity(entity, _name(entity, group)) for entity in group["entities"][:left])
    if not caption or ("score" in group and len(group["entities"]) == 1):
        return f"<tbody>{rows}</tbody>"
    head = f'<tr class="head"><th colspan="4" scope="rowgroup">{caption}</th></tr>'
    return f'<tbody class="captioned">{head}{rows}</tbody>'


def _name(entity, group):
    if "score" not in group:
        return breakable(entity["type"])
    is_list = len(group["entities"]) > 1
    return "" if is_list else f"{breakable(entity['type'])}<small>{_field_score(group)}</small>"


def _field_score(group):
    return "not evaluated" if group["score"] is None else f"score {number(group['score'])}"


def _caption(group, predicted, expected):
    if group["type"] == "":
        return "Entities outside groups"
    name = escape(group["type"])
    if "score" in group:
        return f"{name}: {_field_score(group)}"
    verdict = "" if group.get("is_right", True) else ", not right as a whole"
    if expected is None:
        return f"{name}: predicted {predicted}, not in the reference"
    if predicted is None:
        return f"{name}: reference {expected}, not predicted"
    return f"{name}: predicted {predicted} ↔ reference {expected}{verdict}"


def _entity(entity, name):
    operation = entity["operation"]
    sign, word = OPERATIONS[operation]
    prediction, reference = _values(entity)
    remark = _remark(entity)
    return (
        f'<tr class="{operation}"><td class="operation"><b>{sign}</b> {word}{remark}</td>'
        f'<th scope="row">{name}</th>'
        f'<td class="value" data-side="prediction">{prediction}</td>'
        f'<td class="value" data-side="reference">{reference}</td></tr>'
    )


def _remark(entity):
    """What the metric says of this pair beyond its correction."""
    if not entity.get("counted", True):
        return "<small>not counted</small>"
    if entity["operation"] != "substitute" or "cer" not in entity:
        return ""
    return f"<small>CER {entity['cer']:.2f}, {'near' if entity['within_threshold'] else 'too far'}</small>"


def _values(entity):
    """Both values as HTML, with what differs marked inside them."""
    prediction, reference = entity["prediction"], entity["reference"]
    operation = entity["operation"]
    if operation == "match":
        return _text(prediction), _text(reference)
    if operation == "substitute" and entity["similarity"] >= EDITS_FROM_SIMILARITY and _is_short(prediction, reference):
        return (
            "".join(_edit(step, "prediction", "del") for step in entity["edits"]),
            "".join(_edit(step, "reference", "ins") for step in entity["edits"]),
        )
    return _marked(prediction, "del"), _marked(reference, "ins")


def _is_short(*values):
    return all(len(value) <= CHARACTERS_DRAWN for value in values)


def _edit(step, side, tag):
    text = step[side]
    if not text or step["operation"] == "equal":
        return escape(text)
    return f"<{tag}>{escape(text)}</{tag}>"


def _marked(value, tag):
    return '<span class="none">none</span>' if value is None else f"<{tag}>{_text(value)}</{tag}>"


def _text(value):
    if value is None:
        return '<span class="none">none</span>'
    return escape(value if len(value) <= CHARACTERS_DRAWN else value[:CHARACTERS_DRAWN] + " …")


# Documents of a corpus


def draw_documents(documents, score, total):
    """(name, value of the score, alignment) of some documents, each to be opened."""
    items = "".join(
        f'<details class="document"><summary><b>{escape(name)}</b> '
        f"<span>{escape(score)} {number(value)}</span></summary>{draw_alignment(groups)}</details>"
        for name, value, groups in documents
    )
    note = f"{len(documents)} of {total:,} documents; open one to see its corrections."
    return draw_section("Documents, the worst first", items, note)


def draw_problem(message):
    return f'<p class="problem" role="alert"><b>Not scored.</b> {escape(message)}</p>'


def draw_other_input(why):
    """That the report below does not belong to what stands beside it; the style dims it."""
    return f'<p class="problem other-input" role="status">{escape(why)}</p>'
