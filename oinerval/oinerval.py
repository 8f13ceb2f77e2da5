"""OIECER, OIEWER and OINerval: information extraction judged without regard to the reading order."""

from dataclasses import dataclass

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .alignment import character_edits
from .answers import parse_answer
from .assignment import assign
from .blocks import find_blocks
from .columns import without_untagged_text
from .comparators import load_schema
from .counts import error_rate, precision_recall_f1
from .dates import parse_date
from .documents import to_arrow
from .errors import TEXT_COUNTS, count_errors, nerval_column, oinerval_column
from .explanation import explain_entities
from .field_types import COMPARATORS
from .forms import normalise
from .generation import GenerationHook
from .hooks import flatten
from .iob import read_iob, write_iob
from .json_text import parse_json_text
from .matching import identify
from .module import DocumentMetric, Options, build_info, is_number
from .parallel import count_in_processes
from .parsing import normalize
from .problems import DocumentError
from .sequences import edit_sequences
from .shipped_schemas import SHIPPED_SCHEMAS
from .spelling import spell_words
from .sums import sum_rows
from .tagging import TaggingHook
from .text_forms import describe_forms, normalize_values, read_forms
from .texts import match_in_text

DESCRIPTION = """\
OIECER, OIEWER and OINerval judge the text and the category of extracted entities in any order: pages with
several columns or tables have no single right reading order. Entities are assigned to each other, one to one, so
that the character or word error rates of the pairs are least. The order-dependent metrics that they replace (ECER,
EWER, Nerval, CER, WER) are given on request.
"""

INPUTS = """\
Args:
    predictions: list of documents; each nested groups, a mapping, entities, tagged tokens or JSON text of these.
    references: list of documents, as many.
    threshold: character error rate up to which OINerval and Nerval take two entities for the same (0.3); a list adds
        `curve`, and its first threshold is that of the scores.
    order_dependent: add ecer, ewer and, where all documents are tagged tokens, nerval_*, cer and wer.
    normalize: "nfc", "nfkc", "casefold" or several ("nfkc+casefold"): forms that texts are brought to first.
    schema: comparator per entity type; entities that are the same under it have no error.
    per_type, per_document: add the scores of each category, or of each document.
    confidence_level, n_resamples, seed: add bootstrap `intervals`.
    on_invalid: "raise" (default), or "empty" to score unparsable answers as empty documents.
Returns:
    oiecer, oiewer: error rates, 0 is best, more than 1 is possible; oinerval_precision, oinerval_recall, oinerval_f1:
    floats in 0..1; reference_entities, predicted_entities, documents: counts.
Examples:
    >>> oinerval = evaluate.load("oinerval")
    >>> result = oinerval.compute(predictions=[[("name", "Duboi"), ("date", "1871")]],
    ...                           references=[[("date", "1871"), ("name", "Dubois")]])
    >>> round(result["oiecer"], 4), result["oinerval_f1"]
    (0.0833, 1.0)
"""

CITATION = """\
@inproceedings{villanova2024reading,
  title={Reading Order Independent Metrics for Information Extraction in Handwritten Documents},
  author={Villanova-Aparisi, David and Tarride, Sol{\\`e}ne and Mart{\\'i}nez-Hinarejos, Carlos-D. and
          Romero, Ver{\\'o}nica and Kermorvant, Christopher and Pastor-Gadea, Mois{\\'e}s},
  booktitle={Document Analysis and Recognition - ICDAR 2024},
  year={2024}
}
"""

DEFAULT_THRESHOLD = 0.3


@dataclass(frozen=True, kw_only=True)
class OinervalOptions(Options):
    threshold: object = DEFAULT_THRESHOLD
    order_dependent: bool = False
    normalize: object = None

    def __post_init__(self):
        super().__post_init__()
        self.require("threshold", _are_thresholds(self.threshold), "a number in 0..1, or a list of distinct ones")
        self.require("order_dependent", isinstance(self.order_dependent, bool), "True or False")
        expected = '"nfc", "nfkc", "casefold", or several of them in a list or joined by "+"'
        self.require("normalize", read_forms(self.normalize) is not None, expected)

    @property
    def thresholds(self):
        """All thresholds; the first is that of the headline scores."""
        return [float(t) for t in (self.threshold if isinstance(self.threshold, list | tuple) else [self.threshold])]


def _are_thresholds(threshold):
    thresholds = threshold if isinstance(threshold, list | tuple) else [threshold]
    are_rates = all(is_number(rate) and 0 <= rate <= 1 for rate in thresholds)
    return are_rates and 0 < len(thresholds) == len(set(thresholds))


class Oinerval(DocumentMetric, evaluate.Metric):
    OPTIONS = OinervalOptions
    MAIN_SCORE = "oiecer"
    SHOWN_PER_TYPE = {"per_type": "oiecer"}

    def _info(self):
        return build_info(DESCRIPTION, CITATION, INPUTS, reference_urls=["https://arxiv.org/abs/2404.18664"])

    def _signature(self, options):
        return [
            f"match:{options.schema.describe()}",
            f"normalize:{describe_forms(read_forms(options.normalize))}",
            f"threshold:{np.format_float_positional(options.thresholds[0], trim='-')}",
        ]

    def _count(self, batch, options):
        batch = normalize_values(batch, read_forms(options.normalize))
        return count_errors(batch, options.schema, options.thresholds, options.order_dependent)

    def _explain(self, batch, options):
        return explain_entities(
            without_untagged_text(batch), options.schema, read_forms(options.normalize), options.thresholds[0]
        )

    def _score(self, counts, options):
        return super()._score(_select_counts(counts, options), options)

    def _scores(self, totals):
        categories = totals["categories"]
        sums = {name: values.sum(axis=-1) for name, values in categories.items() if "errors" not in name}
        return {**rates_and_matches({**sums, **totals.plain}), "documents": totals.documents}

    def _extra_scores(self, counts, rows, options):
        if not isinstance(options.threshold, list | tuple):
            return {}
        total = {name: values.sum() for name, values in rows.total()["categories"].items()}
        return {"curve": [curve_point(threshold, total) for threshold in options.thresholds]}


# The formulas. Counts are arrays, or sums of them over categories.


def rates_and_matches(counts):
    """All scores that the counts allow."""
    predicted, reference = counts["predicted"], counts["reference"]
    scores = {name: error_rate(counts[f"{name}_errors"], reference) for name in ("oiecer", "oiewer")}
    scores |= match_scores("oinerval", counts["oinerval"], predicted, reference)
    if "ecer_errors" in counts:
        scores |= {name: error_rate(counts[f"{name}_errors"], reference) for name in ("ecer", "ewer")}
    if "nerval" in counts:
        scores |= match_scores("nerval", counts["nerval"], predicted, reference)
        scores["cer"] = error_rate(counts["character_errors"], counts["characters"])
        scores["wer"] = error_rate(counts["word_errors"], counts["words"])
    return scores | {"reference_entities": reference, "predicted_entities": predicted}


def match_scores(name, matched, predicted, reference):
    parts = precision_recall_f1(matched, predicted, reference)
    return dict(zip((f"{name}_precision", f"{name}_recall", f"{name}_f1"), parts, strict=True))


def category_scores(counts):
    sums = {name: values.sum(axis=-1) for name, values in counts.items()}
    return {**rates_and_matches(sums), "documents": sums["documents"]}


Oinerval.TYPE_SCORES = {"per_type": ("categories", category_scores)}


def curve_point(threshold, total):
    point = {"threshold": threshold}
    for name, column in (("oinerval", oinerval_column), ("nerval", nerval_column)):
        if column(threshold) in total:
            scores = match_scores(name, total[column(threshold)], total["predicted"], total["reference"])
            point |= {score: float(value) for score, value in scores.items()}
    return point


# Which of the counts the scores are made of


def _select_counts(counts, options):
    """The counts with the headline's threshold under a plain name, and without those of texts that are no texts."""
    families = counts["categories"].combine_chunks()
    entries = families.flatten()
    columns = {field.name: pc.struct_field(entries, field.name) for field in entries.type}
    missing = [t for t in options.thresholds if oinerval_column(t) not in columns]
    if missing:
        known = [name.split("@")[1] for name in columns if name.startswith("oinerval@")]
        raise ValueError(
            f"threshold {missing[0]:g}: these counts were made with {', '.join(known)}; count with that threshold too"
        )
    if options.order_dependent and "ecer_errors" not in columns:
        raise ValueError("these counts hold nothing that depends on order: count with order_dependent=True too")
    headline = options.thresholds[0]
    columns["oinerval"] = columns[oinerval_column(headline)]
    left_out = set()
    if not options.order_dependent:
        left_out |= {"ecer_errors", "ewer_errors"}
    if not options.order_dependent or pc.sum(counts["not_tagged"]).as_py():
        left_out |= {*TEXT_COUNTS, *(name for name in columns if name.startswith("nerval@"))}
    else:
        columns["nerval"] = columns[nerval_column(headline)]
    columns = {name: values for name, values in columns.items() if name not in left_out}
    kept = [name for name in counts.column_names if name not in left_out | {"categories"}]
    selected = pa.StructArray.from_arrays(list(columns.values()), list(columns))
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(families).to_numpy())])
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), selected)
    return counts.select(kept).append_column("categories", lists)
