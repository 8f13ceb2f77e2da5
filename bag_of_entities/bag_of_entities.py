"""Bags of entities, of tagged words and of words: what was extracted, whatever its order."""

from dataclasses import dataclass

import evaluate
import pyarrow as pa

from .alignment import align_entities
from .answers import parse_answer
from .bags import count_bags, match_bags_of_entities
from .columns import without_untagged_text
from .comparators import load_schema
from .counts import error_rate, precision_recall_f1
from .dates import parse_date
from .documents import to_arrow
from .field_types import COMPARATORS
from .forms import normalise
from .generation import GenerationHook
from .hooks import flatten
from .iob import read_iob, write_iob
from .json_text import parse_json_text
from .matching import identify
from .module import DocumentMetric, Options, build_info
from .parallel import count_in_processes
from .parsing import normalize
from .problems import DocumentError
from .shipped_schemas import SHIPPED_SCHEMAS
from .sums import sum_rows
from .tagging import TaggingHook
from .text_forms import describe_forms, normalize_values, read_forms

DESCRIPTION = """\
Bags of entities compare what two documents hold, whatever its order: entities (be), words with the category of
their entity (bt), and words of entities alone (b). Read together they tell wrong categories from wrong words and
wrong words from wrong boundaries of entities.
"""

INPUTS = """\
Args:
    predictions: list of documents; each nested groups, a mapping, entities, tagged tokens or JSON text of these.
    references: list of documents, as many.
    normalize: "nfc", "nfkc", "casefold" or several ("nfkc+casefold"): forms that texts are brought to first.
    schema: comparator per entity type; acts on entities (be), words are compared as they are.
    per_type, per_document: add the scores of each category, or of each document.
    confidence_level, n_resamples, seed: add bootstrap `intervals`.
    on_invalid: "raise" (default), or "empty" to score unparsable answers as empty documents.
Returns:
    beer, btwer, bwer: error rates, 0 is best, more than 1 is possible; be_precision, be_recall, be_f1, bt_precision,
    bt_recall, bt_f1, b_precision, b_recall, b_f1: floats in 0..1; documents: a count.
Examples:
    >>> bag_of_entities = evaluate.load("bag_of_entities")
    >>> result = bag_of_entities.compute(predictions=[[("name", "Jean Duboi"), ("date", "1871")]],
    ...                                  references=[[("date", "1871"), ("name", "Jean Dubois")]])
    >>> result["beer"], round(result["btwer"], 4)
    (0.5, 0.3333)
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

ERROR_RATES = {"be": "beer", "bt": "btwer", "b": "bwer"}


@dataclass(frozen=True, kw_only=True)
class BagOptions(Options):
    normalize: object = None

    def __post_init__(self):
        super().__post_init__()
        expected = '"nfc", "nfkc", "casefold", or several of them in a list or joined by "+"'
        self.require("normalize", read_forms(self.normalize) is not None, expected)


class BagOfEntities(DocumentMetric, evaluate.Metric):
    OPTIONS = BagOptions
    MAIN_SCORE = "beer"
    SHOWN_PER_TYPE = {"per_type": "be_f1"}

    def _info(self):
        return build_info(DESCRIPTION, CITATION, INPUTS, reference_urls=["https://arxiv.org/abs/2404.18664"])

    def _signature(self, options):
        return [
            f"match:{options.schema.describe()}",
            f"normalize:{describe_forms(read_forms(options.normalize))}",
        ]

    def _count(self, batch, options):
        return count_bags(_judged(batch, options), options.schema)

    def _explain(self, batch, options):
        matched = match_bags_of_entities(_judged(batch, options), options.schema)
        predictions, references = (_entities(side, batch) for side in without_untagged_text(batch).sides)
        if not predictions and not references:
            return []
        partner = dict(zip(matched[1].tolist(), matched[0].tolist(), strict=True))
        rows = align_entities(predictions, references, partner)
        return [
            {
                "type": "",
                "prediction": 0 if predictions else None,
                "reference": 0 if references else None,
                "entities": rows,
            }
        ]

    def _scores(self, totals):
        sums = {name: values.sum(axis=-1) for name, values in totals["categories"].items() if "errors" not in name}
        return {**bag_scores({**sums, **totals.plain}), "documents": totals.documents}


def _judged(batch, options):
    return normalize_values(without_untagged_text(batch), read_forms(options.normalize))


def _entities(side, batch):
    """Position -> (type, value) of every entity, as it was given."""
    values = batch.values.take(pa.array(side.entity_value)).to_pylist()
    types = [batch.entity_types[code] for code in side.entity_type]
    return dict(enumerate(zip(types, values, strict=True)))


# The formulas


def bag_scores(counts):
    scores = {}
    for name, rate in ERROR_RATES.items():
        matches, predicted, reference = (counts[f"{name}_{of}"] for of in ("true_positives", "predicted", "reference"))
        scores[rate] = error_rate(counts[f"{name}_errors"], reference)
        parts = precision_recall_f1(matches, predicted, reference)
        scores |= dict(zip((f"{name}_precision", f"{name}_recall", f"{name}_f1"), parts, strict=True))
    return scores


def category_scores(counts):
    """A category alone: its words are its tagged words."""
    sums = {name: values.sum(axis=-1) for name, values in counts.items()}
    words = {name.replace("bt_", "b_"): values for name, values in sums.items() if name.startswith("bt_")}
    return {**bag_scores({**sums, **words}), "documents": sums["documents"]}


BagOfEntities.TYPE_SCORES = {"per_type": ("categories", category_scores)}
