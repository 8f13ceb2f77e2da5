"""KIEval: key information extraction judged by the corrections that a person would have to make."""

from dataclasses import dataclass

import evaluate
import numpy as np
import pyarrow.compute as pc

from .alignment import align_groups
from .answers import parse_answer
from .columns import without_empty_groups, without_untagged_text
from .comparators import load_schema
from .corrections import DELETE, MATCH, SUBSTITUTE, Corrections
from .counts import precision_recall_f1, ratio
from .dates import parse_date
from .documents import to_arrow
from .field_types import COMPARATORS
from .forms import normalise
from .generation import GenerationHook
from .groups import pair_groups
from .hooks import flatten
from .json_text import parse_json_text
from .matching import identify
from .module import DocumentMetric, Options, build_info, is_number
from .parallel import count_in_processes
from .parsing import normalize
from .problems import DocumentError
from .shipped_schemas import SHIPPED_SCHEMAS
from .sums import sum_rows
from .tagging import TaggingHook

DESCRIPTION = """\
KIEval judges how well a system extracts key information from documents: entities, and the groups (line items)
that they belong to. Groups are paired first; entities count only inside their pair. `aligned` is the share of
what a person need not correct: matches / (matches + substitutions + additions + deletions).
"""

INPUTS = """\
Args:
    predictions: list of documents; each nested groups, a mapping, entities, tagged tokens or JSON text of these.
    references: list of documents, as many.
    schema: comparator per entity type; a dict, a YAML or JSON file, or the name of a shipped schema.
    keep_empty_groups: count groups without entities, as the official script does.
    thresholds: list of confidences, or "auto": adds `curve`, quality against automation.
    target_aligned: adds `operating_point`, the most automation with at least this quality.
    per_type, per_document: add the scores of each entity type and group type, or of each document.
    confidence_level, n_resamples, seed: add bootstrap `intervals`.
    on_invalid: "raise" (default), or "empty" to score unparsable answers as empty documents.
Returns:
    entity_precision, entity_recall, entity_f1, macro_entity_f1, group_precision, group_recall, group_f1, aligned,
    group_aligned, flat_entity_f1, document_accuracy: floats in 0..1; true_positives, false_positives,
    false_negatives, substitutions, additions, deletions, corrections, documents: counts.
Examples:
    >>> kieval = evaluate.load("kieval")
    >>> result = kieval.compute(predictions=[{"menu": [{"name": "Latte"}]}],
    ...                         references=[{"menu": [{"name": "Latte"}, {"name": "Tea"}]}])
    >>> result["aligned"]
    0.5
"""

CITATION = """\
@inproceedings{khang2025kieval,
  title={{KIEval}: Evaluation Metric for Document Key Information Extraction},
  author={Khang, Minsoo and others},
  booktitle={Document Analysis and Recognition - ICDAR 2025},
  year={2025},
  note={arXiv:2503.05488}
}
"""

POINTS_OF_AUTO_CURVE = 1000


@dataclass(frozen=True, kw_only=True)
class KievalOptions(Options):
    keep_empty_groups: bool = False
    thresholds: object = None
    target_aligned: float | None = None

    def __post_init__(self):
        super().__post_init__()
        self.require("keep_empty_groups", isinstance(self.keep_empty_groups, bool), "True or False")
        self.require("thresholds", _are_thresholds(self.thresholds), '"auto" or a list of numbers of 0 or more')
        target = self.target_aligned
        self.require("target_aligned", target is None or is_number(target) and 0 <= target <= 1, "a number in 0..1")
        if target is not None and self.thresholds is None:
            object.__setattr__(self, "thresholds", "auto")


def _are_thresholds(thresholds):
    if thresholds is None or isinstance(thresholds, str):
        return thresholds in (None, "auto")
    is_list = isinstance(thresholds, list | tuple) and len(thresholds) > 0
    return is_list and all(is_number(threshold) and 0 <= threshold < np.inf for threshold in thresholds)


class Kieval(DocumentMetric, evaluate.Metric):
    OPTIONS = KievalOptions
    MAIN_SCORE = "aligned"
    SHOWN_PER_TYPE = {"per_type": "aligned", "per_group_type": "group_f1"}

    def _info(self):
        return build_info(DESCRIPTION, CITATION, INPUTS, reference_urls=["https://arxiv.org/abs/2503.05488"])

    def _needs_confidence(self, options):
        return "thresholds" if options.thresholds is not None else None

    def _signature(self, options):
        empty = "counted" if options.keep_empty_groups else "dropped"
        return [f"match:{options.schema.describe()}", "ties:fewest-corrections", f"empty:{empty}"]

    def _count(self, batch, options):
        wants_curve = options.thresholds is not None
        corrections = Corrections(_judged(batch, options), options.schema, confidence_matters=wants_curve)
        return corrections.counts() | ({"confidences": corrections.confidences()} if wants_curve else {})

    def _explain(self, batch, options):
        corrections = Corrections(_judged(batch, options), options.schema)
        return align_groups(corrections.batch, corrections.pairing, corrections.matched)

    def _scores(self, totals):
        entities, groups = totals["entities"], totals["groups"]
        of_types = entity_scores({name: values[..., None] for name, values in entities.items()})
        counts = count_corrections(entities)
        occurs = entities["predicted"] + entities["reference"] > 0
        nothing = ~occurs.any(axis=-1)
        scores = entity_scores(entities)
        return {
            "entity_precision": scores["entity_precision"],
            "entity_recall": scores["entity_recall"],
            "entity_f1": scores["entity_f1"],
            "macro_entity_f1": ratio((of_types["entity_f1"] * occurs).sum(axis=-1), occurs.sum(axis=-1), nothing),
            **group_scores(groups),
            "aligned": scores["aligned"],
            "flat_entity_f1": scores["flat_entity_f1"],
            **counts,
            "documents": totals.documents,
            "document_accuracy": ratio(totals["right_documents"], totals.documents, totals.documents == 0),
        }

    def _extra_scores(self, counts, rows, options):
        if options.thresholds is None:
            return {}
        if "confidences" not in counts.column_names:
            raise ValueError("these counts hold no confidences: count with thresholds=.. too")
        points = curve(counts["confidences"], int(rows.total()["entities"]["additions"].sum()), options.thresholds)
        if options.target_aligned is None:
            return {"curve": points}
        good = [point for point in points if point["aligned"] >= options.target_aligned]
        best = max(good, key=lambda point: (point["automation_rate"], point["aligned"]), default=None)
        return {"curve": points, "operating_point": best}


def _judged(batch, options):
    batch = without_untagged_text(batch)
    return batch if options.keep_empty_groups else without_empty_groups(batch)


# The formulas. Counts are arrays with a last axis for the types.


def count_corrections(entities):
    total = {name: values.sum(axis=-1) for name, values in entities.items()}
    return {
        "true_positives": total["true_positives"],
        "false_positives": total["predicted"] - total["true_positives"],
        "false_negatives": total["reference"] - total["true_positives"],
        "substitutions": total["substitutions"],
        "additions": total["additions"],
        "deletions": total["deletions"],
        "corrections": total["substitutions"] + total["additions"] + total["deletions"],
    }


def entity_scores(entities):
    counts = count_corrections(entities)
    matches, predicted, reference = (
        entities[name].sum(axis=-1) for name in ("true_positives", "predicted", "reference")
    )
    nothing = (predicted == 0) & (reference == 0)
    precision, recall, f1 = precision_recall_f1(matches, predicted, reference)
    *_, flat_f1 = precision_recall_f1(entities["flat_true_positives"].sum(axis=-1), predicted, reference)
    right, documents = (entities[name].sum(axis=-1) for name in ("right_documents", "documents"))
    return {
        "entity_precision": precision,
        "entity_recall": recall,
        "entity_f1": f1,
        "aligned": ratio(matches, matches + counts["corrections"], nothing),
        "flat_entity_f1": flat_f1,
        **counts,
        "documents": documents,
        "document_accuracy": ratio(right, documents, documents == 0),
    }


def group_scores(groups):
    right, paired, predicted, reference = (
        groups[name].sum(axis=-1) for name in ("right", "paired", "predicted", "reference")
    )
    precision, recall, f1 = precision_recall_f1(right, predicted, reference)
    # right + pairs not right + unmatched groups of either side
    judged = predicted + reference - paired
    return {
        "group_precision": precision,
        "group_recall": recall,
        "group_f1": f1,
        "group_aligned": ratio(right, judged, judged == 0),
    }


Kieval.TYPE_SCORES = {"per_type": ("entities", entity_scores), "per_group_type": ("groups", group_scores)}


def curve(confidences, additions, thresholds):
    """Quality and automation when predictions below a threshold are reviewed by a person who never adds."""
    entries = confidences.combine_chunks().flatten()
    confidence = pc.struct_field(entries, "confidence").to_numpy()
    order = np.argsort(confidence, kind="stable")
    confidence = confidence[order]
    operation = pc.struct_field(entries, "operation").to_numpy()[order]
    if isinstance(thresholds, str):
        thresholds = _auto_thresholds(confidence)
    below = {of: np.concatenate([[0], np.cumsum(operation == of)]) for of in (MATCH, SUBSTITUTE, DELETE)}
    points = []
    for threshold in thresholds:
        reviewed = int(np.searchsorted(confidence, threshold))
        wrong_left = sum(int(below[of][-1] - below[of][reviewed]) for of in (SUBSTITUTE, DELETE))
        corrections = wrong_left + additions
        judged = len(confidence) - int(below[DELETE][reviewed]) + additions
        points.append(
            {
                "threshold": float(threshold),
                "automation_rate": (len(confidence) - reviewed) / len(confidence) if len(confidence) else 1.0,
                "aligned": (judged - corrections) / judged if judged else 1.0,
                "reviewed": reviewed,
                "corrections_left": corrections,
            }
        )
    return points


def _auto_thresholds(sorted_confidences):
    """0, and every distinct confidence; of very many, those that divide the predictions evenly."""
    distinct = np.unique(sorted_confidences)
    if len(distinct) > POINTS_OF_AUTO_CURVE:
        positions = np.linspace(0, len(sorted_confidences) - 1, POINTS_OF_AUTO_CURVE).astype(int)
        distinct = np.unique(sorted_confidences[positions])
    return np.union1d([0.0], distinct).tolist()
