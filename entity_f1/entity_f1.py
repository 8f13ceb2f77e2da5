"""Field evaluation: is the value of every field right, whatever its type, and its lists in the right order?"""

from dataclasses import dataclass

import evaluate
import numpy as np
import pyarrow as pa

from .alignment import align_entities
from .answers import parse_answer
from .columns import without_untagged_text
from .comparators import load_schema
from .counts import precision_recall_f1, ratio
from .dates import parse_date
from .documents import to_arrow
from .field_types import COMPARATORS
from .fields import ROUNDING, Fields
from .forms import normalise
from .generation import GenerationHook
from .hooks import flatten
from .json_text import parse_json_text
from .matching import identify
from .module import DocumentMetric, Options, build_info, is_number
from .parallel import count_in_processes
from .parsing import normalize
from .problems import DocumentError
from .rows import match_rows
from .shipped_schemas import SHIPPED_SCHEMAS
from .sums import sum_rows
from .tagging import TaggingHook
from .value_pairs import ValuePairs

DESCRIPTION = """\
Field evaluation for models that read invoices, receipts, statements or forms: every field is compared by its type
(dates as dates, amounts as amounts) and lists item by item, at their position, in any order, or as rows. The score
of a document is the mean of its fields; ratings and a readiness say what the numbers mean for use.
"""

INPUTS = """\
Args:
    predictions: list of documents; each nested groups, a mapping, entities, tagged tokens or JSON text of these.
    references: list of documents, as many.
    schema: comparator per field, document types, aligned lists; a dict, a YAML or JSON file, or a shipped schema.
    strategy: how lists score: "position" (default), "any_order", "rows" or "correction".
    separator: what stands between the items of a list in one text, " | "; None does not split.
    absent: the text of an absent value, "NOT_FOUND"; None for none.
    match_threshold: a field is matched where it scores more than this, 0.9.
    per_type, per_document: add the scores of each field, or of each document with the best and worst ones.
    confidence_level, n_resamples, seed: add bootstrap `intervals`.
    on_invalid: "raise" (default), or "empty" to score unparsable answers as empty documents.
Returns:
    accuracy, field_accuracy, micro_f1, macro_f1, precision, recall, field_coverage: floats in 0..1;
    fields_evaluated, fields_matched, perfect_documents, documents: counts; readiness: text.
Examples:
    >>> entity_f1 = evaluate.load("entity_f1")
    >>> result = entity_f1.compute(predictions=[{"items": "tea | pie"}], references=[{"items": "tea | pie | cake"}])
    >>> result["accuracy"]
    0.8
"""

CITATION = """\
@inproceedings{khang2025kieval,
  title={{KIEval}: Evaluation Metric for Document Key Information Extraction},
  author={Khang, Minsoo and others},
  booktitle={Document Analysis and Recognition - ICDAR 2025},
  year={2025},
  note={The strategy "correction" counts as this paper does. arXiv:2503.05488}
}
"""

STRATEGIES = ("position", "any_order", "rows", "correction")
SEPARATOR, ABSENT = " | ", "NOT_FOUND"
SHOWN_DOCUMENTS = 5


@dataclass(frozen=True, kw_only=True)
class EntityF1Options(Options):
    strategy: str = "position"
    separator: str | None = SEPARATOR
    absent: str | None = ABSENT
    match_threshold: float = 0.9

    def __post_init__(self):
        super().__post_init__()
        known = isinstance(self.strategy, str) and self.strategy in STRATEGIES
        self.require("strategy", known, f"one of {', '.join(map(repr, STRATEGIES))}")
        for name in ("separator", "absent"):
            value = getattr(self, name)
            self.require(name, value is None or isinstance(value, str) and value.strip() != "", "a text or None")
        threshold = self.match_threshold
        self.require("match_threshold", is_number(threshold) and 0 <= threshold <= 1, "a number in 0..1")


class EntityF1(DocumentMetric, evaluate.Metric):
    OPTIONS = EntityF1Options
    MAIN_SCORE = "accuracy"
    SHOWN_PER_TYPE = {"per_type": "accuracy"}

    def _info(self):
        return build_info(DESCRIPTION, CITATION, INPUTS, reference_urls=["https://arxiv.org/abs/2503.05488"])

    def _signature(self, options):
        own = [f"match:{options.schema.describe()}", f"strategy:{options.strategy}"]
        for name, default in (("separator", SEPARATOR), ("absent", ABSENT), ("match_threshold", 0.9)):
            value = getattr(options, name)
            if value != default:
                own.append(f"{name}:" + ascii(value).replace("|", r"\x7c"))
        return own

    def _count(self, batch, options):
        return Fields(without_untagged_text(batch), options).counts()

    def _explain(self, batch, options):
        return explain_fields(Fields(without_untagged_text(batch), options))

    def _scores(self, totals):
        fields = totals["fields"]
        pooled = {name: values.sum(axis=-1) for name, values in fields.items()}
        occurs = fields["evaluated"] > 0
        nothing = ~occurs.any(axis=-1)
        of_fields = field_scores({name: values[..., None] for name, values in fields.items()})
        precision, recall, micro_f1 = precision_recall_f1(
            pooled["true_positives"], pooled["predicted"], pooled["reference"]
        )
        accuracy = ratio(totals["accuracy"], totals.documents, totals.documents == 0)
        return {
            "accuracy": accuracy,
            "field_accuracy": _mean(of_fields["accuracy"], occurs, nothing),
            "micro_f1": micro_f1,
            "macro_f1": _mean(of_fields["f1"], occurs, nothing),
            "precision": precision,
            "recall": recall,
            "field_coverage": ratio(pooled["covered"], pooled["expected"], nothing),
            "fields_evaluated": pooled["evaluated"],
            "fields_matched": pooled["correct"],
            "perfect_documents": totals["perfect_documents"],
            "documents": totals.documents,
            # Where nothing was judged, nothing speaks for going live.
            "readiness": np.where(nothing, "not ready", judge(accuracy, READINESS, "not ready")),
        }

    def _extra_scores(self, counts, rows, options):
        if not options.per_document:
            return {}
        accuracy = rows.plain["accuracy"]
        best = np.argsort(-accuracy, kind="stable")[:SHOWN_DOCUMENTS].tolist()
        worst = np.argsort(accuracy, kind="stable")[:SHOWN_DOCUMENTS].tolist()
        return {
            name: [{"document": index, "accuracy": float(accuracy[index])} for index in documents]
            for name, documents in (("best_documents", best), ("worst_documents", worst))
        }


# The formulas. Counts are arrays with a last axis for the fields.

RATINGS = {"excellent": 0.9, "good": 0.8, "fair": 0.5}
READINESS = {"deploy": 0.9, "pilot": 0.8, "optimise": 0.7}


def judge(accuracy, least, otherwise):
    """The first word whose least accuracy is reached; 0.1 + 0.8 reaches 0.9."""
    return np.select([accuracy >= limit - ROUNDING for limit in least.values()], list(least), otherwise)


def field_scores(fields):
    total = {name: values.sum(axis=-1) for name, values in fields.items()}
    accuracy = ratio(total["score"], total["evaluated"], False)
    precision, recall, f1 = precision_recall_f1(total["true_positives"], total["predicted"], total["reference"])
    return {
        "accuracy": accuracy,
        "correct": total["correct"],
        "total": total["evaluated"],
        "rating": judge(accuracy, RATINGS, "poor"),
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


EntityF1.TYPE_SCORES = {"per_type": ("fields", field_scores)}


def _mean(values, occurs, nothing):
    return ratio((values * occurs).sum(axis=-1), occurs.sum(axis=-1), nothing)


# The alignment of one document


def explain_fields(fields):
    """One entry per field, in the order of the reference: its score (None where it is not evaluated) and its items."""
    predictions, references = (_items_by_cell(fields, items) for items in fields.items)
    partner = dict(zip(fields.matched[1].tolist(), fields.matched[0].tolist(), strict=True))
    explained = []
    for cell in dict.fromkeys([*references, *predictions]):
        predicted, expected = predictions.get(cell, {}), references.get(cell, {})
        index = int(np.searchsorted(fields.cells, cell))
        explained.append(
            {
                "type": fields.batch.entity_types[fields.field[index]],
                "prediction": 0 if predicted else None,
                "reference": 0 if expected else None,
                "score": float(fields.score[index]) if fields.is_evaluated[index] else None,
                "entities": _align(fields, predicted, expected, partner),
            }
        )
    return explained


def _items_by_cell(fields, items):
    """Cell -> {item: (field, value)} in reading order."""
    values = fields.batch.values.take(pa.array(items.shown)).to_pylist()
    found = {}
    for item, (cell, value) in enumerate(zip(items.cell.tolist(), values, strict=True)):
        found.setdefault(cell, {})[item] = (fields.batch.entity_types[cell % fields.types], value)
    return found


def _align(fields, predicted, expected, partner):
    if fields.options.strategy != "position":
        return align_entities(predicted, expected, partner)
    at = [{int(items.position[item]): item for item in found}
          for items, found in zip(fields.items, (predicted, expected), strict=True)]  # fmt: skip
    aligned = []
    for position in sorted({*at[0], *at[1]}):
        here = [{items[position]: found[items[position]]} if position in items else {}
                for items, found in zip(at, (predicted, expected), strict=True)]  # fmt: skip
        aligned += align_entities(*here, partner)
    return aligned
