"""VRDU: type-aware F1 of unrepeated, repeated and hierarchical entities, as the benchmark reports it."""

import json
from dataclasses import dataclass

import evaluate
import numpy as np

from .alignment import align_entities
from .answers import parse_answer
from .columns import without_empty_groups, without_untagged_text
from .comparators import load_schema
from .counts import precision_recall_f1, ratio
from .dates import parse_date
from .documents import owners_of_components
from .entities import Entities
from .explanation import explain_entities
from .field_types import COMPARATORS
from .forms import normalise
from .generation import GenerationHook
from .hooks import flatten
from .json_text import parse_json_text
from .matching import identify
from .module import DocumentMetric, Options, build_info
from .parallel import count_in_processes
from .parsing import normalize
from .problems import DocumentError
from .rows import match_rows
from .shipped_schemas import SHIPPED_SCHEMAS
from .sums import sum_rows
from .tagging import TaggingHook
from .value_pairs import ValuePairs
from .vrdu_files import read_benchmark

DESCRIPTION = """\
The scores of the VRDU benchmark (visually rich document understanding): micro and macro F1 over entity names whose
values are compared by type. A name is unrepeated (one prediction counts), repeated (one to one), or a component of
a hierarchical entity, such as a line item, which is right when all of its components are.
"""

INPUTS = """\
Args:
    predictions: list of documents; each nested groups, a mapping, entities, tagged tokens or JSON text of these.
    references: list of documents, as many. Several values of an unrepeated name are alternatives.
    schema: comparator per entity name; a dict, a YAML or JSON file, or the name of a shipped schema.
    repeated: names that may occur several times in a document; all other ungrouped names are unrepeated.
    groups: hierarchical entity -> names of its components; ungrouped components are grouped where a name repeats.
    per_type, per_document: add the scores of each name and of each hierarchical entity, or of each document.
    confidence_level, n_resamples, seed: add bootstrap `intervals`.
    on_invalid: "raise" (default), or "empty" to score unparsable answers as empty documents.
Returns:
    micro_precision, micro_recall, micro_f1, macro_precision, macro_recall, macro_f1, unrepeated_f1, hierarchical_f1:
    floats in 0..1; documents: count.
Examples:
    >>> vrdu_f1 = evaluate.load("vrdu_f1")
    >>> result = vrdu_f1.compute(predictions=[{"total": "3", "date": "1 May"}], references=[{"total": "3"}])
    >>> result["micro_recall"], result["micro_precision"]
    (1.0, 0.5)
"""

CITATION = """\
@inproceedings{wang2023vrdu,
  title={{VRDU}: A Benchmark for Visually-rich Document Understanding},
  author={Wang, Zilong and Zhou, Yichao and Wei, Wei and Lee, Chen-Yu and Tata, Sandeep},
  booktitle={Proceedings of the 29th ACM SIGKDD Conference on Knowledge Discovery and Data Mining},
  year={2023},
  note={arXiv:2211.15421}
}
"""


@dataclass(frozen=True, kw_only=True)
class VrduF1Options(Options):
    repeated: object = None
    groups: object = None

    def __post_init__(self):
        super().__post_init__()
        names = self.repeated
        is_list = names is None or isinstance(names, list | tuple)
        are_names = is_list and all(isinstance(name, str) and name for name in names or ())
        self.require("repeated", are_names, "a list of entity names")
        components = owners_of_components(self.groups or {}) if self.groups is not None else {}
        if both := [name for name in names or () if name in components]:
            raise ValueError(f"repeated: {both[0]!r} is a component of a group too; name it in one of the two")


class VrduF1(DocumentMetric, evaluate.Metric):
    OPTIONS = VrduF1Options
    MAIN_SCORE = "micro_f1"
    SHOWN_PER_TYPE = {"per_type": "f1", "per_group_type": "f1"}

    read_benchmark = staticmethod(read_benchmark)

    def _info(self):
        return build_info(
            DESCRIPTION,
            CITATION,
            INPUTS,
            reference_urls=["https://arxiv.org/abs/2211.15421", "https://github.com/google-research-datasets/vrdu"],
        )

    def _signature(self, options):
        own = [f"match:{options.schema.describe()}"]
        if options.repeated:
            own.append(f"repeated:{json.dumps(sorted(options.repeated))}")
        if options.groups:
            groups = {name: sorted(options.groups[name]) for name in sorted(options.groups)}
            own.append(f"groups:{json.dumps(groups)}")
        return own

    def _count(self, batch, options):
        return _entities(batch, options).counts()

    def _explain(self, batch, options):
        return explain_entities(_entities(batch, options))

    def _scores(self, totals):
        entities, groups = totals["entities"], totals["groups"]
        of_names = {name: np.concatenate([entities[name], groups[name]], axis=-1) for name in entities}
        occurs = of_names["predicted"] + of_names["reference"] > 0
        nothing = ~occurs.any(axis=-1)
        micro = name_scores(of_names)
        macro = name_scores({name: values[..., None] for name, values in of_names.items()})
        unrepeated = [totals[f"unrepeated_{name}"] for name in ("true_positives", "predicted", "reference")]
        return {
            **{f"micro_{name}": micro[name] for name in ("precision", "recall", "f1")},
            **{f"macro_{name}": _mean(macro[name], occurs, nothing) for name in ("precision", "recall", "f1")},
            "unrepeated_f1": precision_recall_f1(*unrepeated)[2],
            "hierarchical_f1": name_scores(groups)["f1"],
            "documents": totals.documents,
        }


def _entities(batch, options):
    return Entities(without_empty_groups(without_untagged_text(batch)), options)


# The formulas. Counts are arrays with a last axis for the names.


def name_scores(counts):
    total = {name: counts[name].sum(axis=-1) for name in ("true_positives", "predicted", "reference")}
    precision, recall, f1 = precision_recall_f1(total["true_positives"], total["predicted"], total["reference"])
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "true_positives": total["true_positives"],
        "false_positives": total["predicted"] - total["true_positives"],
        "false_negatives": total["reference"] - total["true_positives"],
    }


VrduF1.TYPE_SCORES = {"per_type": ("entities", name_scores), "per_group_type": ("groups", name_scores)}


def _mean(values, occurs, nothing):
    return ratio((values * occurs).sum(axis=-1), occurs.sum(axis=-1), nothing)
