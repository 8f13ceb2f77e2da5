"""What all modules share around `evaluate.Metric`: documents in, counts, scores and explanations out.

A module declares its options, how a batch of documents is counted and how scores follow from sums of counts;
evaluate's writer, locks and processes stay in use.
"""

import dataclasses
import functools
import inspect
from dataclasses import dataclass

import datasets
import evaluate
import pyarrow as pa
import pyarrow.compute as pc

from .columns import encode
from .comparators import load_schema, read_schema
from .counts import Rows, intervals, to_plain, to_plain_list
from .documents import to_arrow
from .generation import GenerationHook
from .parallel import check_processes, count_in_processes
from .problems import DocumentError, quote
from .sums import sum_rows
from .tagging import TaggingHook

DOCUMENTS_AT_ONCE = 4_000
WRITTEN_AT_ONCE = 10_000

_TEXT, _NUMBER = datasets.Value("string"), datasets.Value("float64")
_ENTITIES = datasets.List({"type": _TEXT, "value": _TEXT, "confidence": _NUMBER})
_GROUPS = datasets.List({"type": _TEXT, "entities": _ENTITIES})
FEATURES = datasets.Features({"predictions": _GROUPS, "references": _GROUPS})


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every module. A module's own are added by inheritance."""

    schema: object = None
    per_type: bool = False
    per_document: bool = False
    confidence_level: float | None = None
    n_resamples: int = 1000
    seed: int = 0
    on_invalid: str = "raise"

    def __post_init__(self):
        object.__setattr__(self, "schema", load_schema(self.schema))
        for name in ("per_type", "per_document"):
            self.require(name, isinstance(getattr(self, name), bool), "True or False")
        level = self.confidence_level
        self.require(
            "confidence_level", level is None or is_number(level) and 0 < level < 1, "a number between 0 and 1"
        )
        self.require("n_resamples", is_whole(self.n_resamples) and self.n_resamples > 0, "a positive whole number")
        self.require("seed", is_whole(self.seed) and self.seed >= 0, "a whole number, 0 or more")
        self.require("on_invalid", self.on_invalid in ("raise", "empty"), "'raise' or 'empty'")

    def require(self, name, is_right, expected):
        if not is_right:
            raise ValueError(f"{name} must be {expected}, got {getattr(self, name)!r:.80}")

    @classmethod
    def names(cls):
        return [field.name for field in dataclasses.fields(cls)]


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def build_info(description, citation, inputs, reference_urls):
    """What evaluate knows of a module; the documents reach it as Arrow columns."""
    info = evaluate.MetricInfo(
        description=description,
        citation=citation,
        inputs_description=inputs,
        features=FEATURES,
        reference_urls=reference_urls,
    )
    info.format = "arrow"
    return info


class DocumentMetric:
    """Mixin for `evaluate.Metric`. A module defines:

    - `OPTIONS`, a subclass of `Options`, `VERSION`, and `MAIN_SCORE`, by which documents are ranked
    - `_count(batch, options)`: the columns of the table of counts
    - `_scores(totals)`: all headline scores; `TYPE_SCORES`: result name -> (family, function of its counts)
    - `_explain(batch, options)`: the alignment of a batch of one document
    - `_signature(options)`: what changes the score, as a list of "name:value"
    and may define `_extra_scores(counts, rows, options)` and `_needs_confidence(options)`.
    """

    OPTIONS = Options
    VERSION = "1.0"
    TYPE_SCORES = {}
    SHOWN_PER_TYPE = {}

    def __init__(self, *args, **kwargs):
        given = {name: kwargs.pop(name) for name in self.OPTIONS.names() if name in kwargs}
        self._defaults = {}
        self._options(given)
        self._defaults = given
        self._unscored = _Unscored()
        super().__init__(*args, seed=given.get("seed"), **kwargs)

    def __reduce__(self):
        """Pickled, a metric is how to load it: evaluate's module cache is not importable in a new process."""
        if self.writer is not None:
            raise TypeError(f"{len(self)} documents are added and not scored yet: call compute() before pickling")
        return self.how_to_load(), ()

    def how_to_load(self, **changes):
        """A call that loads this metric anew, here or in another process."""
        settings = {
            "config_name": self.config_name,
            "process_id": self.process_id,
            "num_process": self.num_process,
            "cache_dir": self._data_dir_root,
            "experiment_id": self.experiment_id,
            "keep_in_memory": self.keep_in_memory,
            **self._defaults,
            **changes,
        }
        return functools.partial(evaluate.load, inspect.getfile(type(self)), **settings)

    def for_round(self, name):
        """This metric for one round of an evaluation by several processes (`num_process`).

        Every process calls it with the same name, a new one for each round, e.g. the epoch. Each round then has files
        of its own: a process that is ahead cannot overwrite what another has not read yet.
        """
        return self.how_to_load(experiment_id=f"{self.experiment_id}-round-{name}")()

    # Adding documents and scoring them, as evaluate does

    def compute(self, *, predictions=None, references=None, **options):
        """Scores of the documents given here and of those added before.

        Every option is keyword-only; see the module's card.
        """
        parsed = self._options(options)
        if predictions is not None or references is not None:
            table = self._to_table(predictions, references, parsed.on_invalid)
            self._require_confidence(parsed)
            self._require_confidence(parsed, table["predictions"])
            self._write(table)
        elif self.writer is None:
            raise ValueError("nothing to score: give predictions and references, or add documents first")
        self._require_confidence(parsed)
        self._unscored = _Unscored()
        return super().compute(**options)

    def add_batch(self, *, predictions=None, references=None, on_invalid=None, **unknown):
        """Add documents, in any accepted form; they are scored by `compute`."""
        self._refuse(unknown)
        options = self._options({} if on_invalid is None else {"on_invalid": on_invalid})
        self._write(self._to_table(predictions, references, options.on_invalid))

    def add(self, *, prediction=None, reference=None, on_invalid=None, **plural):
        """Add one document, in any accepted form; it is scored by `compute`."""
        prediction, reference = plural.pop("predictions", prediction), plural.pop("references", reference)
        self._refuse(plural)
        self.add_batch(predictions=[prediction], references=[reference], on_invalid=on_invalid)

    def _compute(self, *, predictions, references, **options):
        options = self._options(options)
        return self._score(self._count_arrow(predictions, references, options), options)

    # Counting and scoring in two steps

    def count(self, predictions, references, *, processes=1, **options):
        """The counts of each document as a table, one row per document; tables are merged by concatenation.

        Several processes give the same table faster. In a script, call them below `if __name__ == "__main__":`.
        """
        check_processes(processes)
        if processes > 1:
            self._options(options)
            return count_in_processes(self, predictions, references, options, processes)
        options = self._options(options)
        table = self._to_table(predictions, references, options.on_invalid)
        self._require_confidence(options, table["predictions"])
        return self._count_arrow(table["predictions"], table["references"], options)

    def sum_counts(self, counts):
        """A table of few rows that scores the same: for corpora whose counts are too many to be kept."""
        return sum_rows(counts)

    def score(self, counts, **options):
        """The scores of a table of counts, or of several that were concatenated."""
        options = self._options(options)
        try:
            return self._score(counts, options)
        except KeyError as error:
            raise ValueError(f"these are no counts of {self.name}: they have no {error}") from None

    def explain(self, prediction, reference, **options):
        """The alignment of one document: pairs of groups, and in them pairs of entities with an operation."""
        options = self._options(options)
        table = self._to_table([prediction], [reference], options.on_invalid)
        return self._explain(_encode_slice(table["predictions"], table["references"], 0), options)

    def signature(self, **options):
        """One line that names all that changes the score."""
        options = self._options(options)
        return "|".join([self.name, *self._signature(options), f"v{self.VERSION}"])

    # In a training loop

    def for_token_classification(self, *, labels, words, groups=None, prefix="", **options):
        """A `compute_metrics` for a Trainer whose model tags words, such as LayoutLM.

        Args:
            labels: the tags by number (O, B-type, I-type), a list or a model's `config.id2label`.
            words: the tokenizer, which rebuilds the words from the input ids in whatever order documents come (set
                `label_names=["labels", "input_ids"]`, or `include_for_metrics=["inputs"]`); or a function from input
                ids to words; or the words of each document, where evaluation keeps their order.
            groups: group type -> entity types; in reading order a type that repeats opens a new group.
            prefix: put before every name of a score.
            options: of the metric.
        """
        return TaggingHook(self, labels, words, groups, prefix, options)

    def for_generation(self, tokenizer, *, parse=None, documents=None, prefix="", **options):
        """A `compute_metrics` for a Seq2SeqTrainer (`predict_with_generate=True`) whose model writes its answer.

        Args:
            tokenizer: a tokenizer, or a processor that has one.
            parse: a function from an answer to a document or to the part of the text that holds it; the default
                takes JSON text and Donut's tags.
            documents: the number of documents, `len(eval_dataset)`, where several processes evaluate: a Seq2SeqTrainer
                hands over some documents twice at the end, to make its batches even.
            prefix: put before every name of a score.
            options: of the metric; an answer that cannot be parsed is scored as empty and counted in
                `invalid_predictions`, unless `on_invalid="raise"`.
        """
        return GenerationHook(self, tokenizer, parse, documents, prefix, options)

    def check_options(self, **options):
        """Raise an error where an option is unknown or has a wrong value."""
        self._options(options)

    def portable_options(self, **options):
        """The same options for another machine, once they are checked: a schema's file is replaced by what it says."""
        self._options(options)
        return options | ({"schema": read_schema(options["schema"])} if "schema" in options else {})

    # Behind them

    def _options(self, given):
        self._refuse([name for name in given if name not in self.OPTIONS.names()])
        return self.OPTIONS(**{**self._defaults, **given})

    def _refuse(self, unknown):
        if unknown:
            known = ", ".join(self.OPTIONS.names())
            raise ValueError(f"{type(self).__name__} has no option {next(iter(unknown))!r}; it has {known}")

    def _to_table(self, predictions, references, on_invalid):
        for side, documents in (("predictions", predictions), ("references", references)):
            if documents is None:
                raise ValueError(f"{side} are missing: give predictions and references")
        columns = [
            to_arrow(predictions, "predictions", on_invalid),
            to_arrow(references, "references"),
        ]
        if len(columns[0]) != len(columns[1]):
            raise ValueError(f"predictions has {len(columns[0])} documents, references has {len(columns[1])}")
        return pa.table(columns, names=["predictions", "references"])

    def _write(self, table):
        self._unscored.add(table["predictions"])
        if self.writer is None:
            self.selected_feature_format = self.features
            self._init_writer()
        self.writer.write_table(table, WRITTEN_AT_ONCE)

    def _require_confidence(self, options, predictions=None):
        needed = self._needs_confidence(options)
        if not needed:
            return
        if unsure := self._unscored.unsure if predictions is None else entity_without_confidence(predictions):
            index, entity = unsure
            remedy = "give one to every predicted entity"
            raise DocumentError(("predictions", index), f"{entity} has no confidence, which {needed} needs: {remedy}")

    def _needs_confidence(self, options):
        """The name of an option that is set and needs confidences, if any."""

    def _count_arrow(self, predictions, references, options):
        tables = []
        for start in range(0, max(len(predictions), 1), DOCUMENTS_AT_ONCE):
            batch = _encode_slice(predictions, references, start)
            columns = {"invalid_predictions": batch.predictions.is_invalid.astype("int64")}
            tables.append(pa.table(columns | self._count(batch, options)))
        return pa.concat_tables(tables)

    def _score(self, counts, options):
        rows = Rows(counts)
        if options.per_document or options.confidence_level:
            rows.require_one_per_document()
        result = to_plain(self._scores(rows.total()))
        invalid = int(rows.plain["invalid_predictions"].sum())
        if invalid or options.on_invalid == "empty":
            result["invalid_predictions"] = invalid
        if options.per_type:
            for name, (family, scores) in self.TYPE_SCORES.items():
                table = to_plain_list(scores(rows.per_type(family)))
                result[name] = dict(zip(rows.types[family], table, strict=True))
        if options.per_document:
            result["per_document"] = to_plain_list(self._scores(rows.per_document()))
        if options.confidence_level:
            result["intervals"] = intervals(
                rows, self._scores, options.confidence_level, options.n_resamples, options.seed
            )
        return result | self._extra_scores(counts, rows, options)

    def _extra_scores(self, counts, rows, options):
        return {}


class _Unscored:
    """What must be known of the documents that were added and not scored yet."""

    def __init__(self):
        self.documents, self.unsure = 0, None

    def add(self, predictions):
        if self.unsure is None and (unsure := entity_without_confidence(predictions)):
            self.unsure = (self.documents + unsure[0], unsure[1])
        self.documents += len(predictions)


def entity_without_confidence(predictions):
    """The first predicted entity without a confidence: its document and what it is. Untagged text needs none."""
    documents = predictions.combine_chunks()
    lists = pc.struct_field(documents.flatten(), "entities")
    entities = lists.flatten()
    types, confidences = (pc.struct_field(entities, name) for name in ("type", "confidence"))
    entity = pc.index(pc.and_(pc.is_null(confidences), pc.not_equal(types, "")), True).as_py()
    if entity < 0:
        return None
    group = pc.list_parent_indices(lists)[entity].as_py()
    document = pc.list_parent_indices(documents)[group].as_py()
    return document, f"{quote(types[entity].as_py())} {quote(pc.struct_field(entities, 'value')[entity].as_py())}"


def _encode_slice(predictions, references, start):
    return encode(*(side.slice(start, DOCUMENTS_AT_ONCE).combine_chunks() for side in (predictions, references)))
