"""Hooks and examples with the real Trainers of transformers, on models that give known answers."""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from helpers import MODULES, ROOT, load
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.answers import parse_answer

MISSING = [name for name in ("torch", "transformers", "accelerate") if importlib.util.find_spec(name) is None]
if MISSING:
    pytest.skip(f"{', '.join(MISSING)} not installed: make test-all does", allow_module_level=True)

import forced_models  # noqa: E402
import generation  # noqa: E402
import token_classification as tagging  # noqa: E402
from transformers import DonutProcessor, PrinterCallback, Trainer  # noqa: E402

every_module = pytest.mark.parametrize("name", MODULES)


def numbers_of(result):
    return {name: value for name, value in result.items() if isinstance(value, int | float)}


@pytest.fixture(scope="module")
def expected_of_tagger(kieval):
    predictions, references = forced_models.documents_of_tagger()
    return numbers_of(kieval.compute(predictions=predictions, references=references))


@pytest.fixture(scope="module")
def expected_of_writer(kieval):
    return score_writer(kieval)


def score_writer(metric):
    predictions, references = forced_models.documents_of_writer()
    predictions[5] = "broken off"
    return numbers_of(metric.compute(predictions=predictions, references=references, on_invalid="empty"))


def test_forced_tagger_misses_only_the_counts_of_goods(expected_of_tagger):
    rows = sum(receipt["tags"].count(forced_models.MISSED) for receipt in tagging.read_receipts())
    assert expected_of_tagger["additions"] == expected_of_tagger["corrections"] == rows > 0


@every_module
def test_every_module_scores_a_tagger_exactly(name):
    metric = load(name, keep_in_memory=True)
    predictions, references = forced_models.documents_of_tagger()
    expected = numbers_of(metric.compute(predictions=predictions, references=references))
    assert forced_models.evaluate_tagger(metric) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_eval_metrics": True},
        {"eval_do_concat_batches": False},
        {"eval_accumulation_steps": 2},
        {"train_sampling_strategy": "group_by_length"},
        {"label_names": ["labels"], "include_for_metrics": ["inputs"]},
        {"label_names": ["labels"], "include_for_metrics": ["inputs"], "batch_eval_metrics": True},
        {"label_names": ["labels"], "include_for_metrics": ["inputs", "loss"], "eval_do_concat_batches": False},
        {"bf16_full_eval": True, "batch_eval_metrics": True},
    ],
    ids=lambda arguments: "-".join(arguments),
)
def test_tagger_scores_the_same_however_it_is_evaluated(kieval, expected_of_tagger, arguments):
    assert forced_models.evaluate_tagger(kieval, **arguments) == expected_of_tagger


def test_tags_chosen_before_and_words_in_order(kieval, expected_of_tagger):
    words = [receipt["words"] for receipt in tagging.read_receipts()]
    scores = forced_models.evaluate_tagger(
        kieval, words=words, preprocess=lambda logits, labels: logits[0].argmax(-1), label_names=["labels"]
    )
    assert scores == expected_of_tagger


def test_words_in_order_are_refused_where_the_order_changes(kieval):
    words = [receipt["words"] for receipt in tagging.read_receipts()]
    with pytest.raises(ValueError, match="evaluation changes the order of documents, give the tokenizer"):
        forced_models.evaluate_tagger(kieval, words=words, train_sampling_strategy="group_by_length")


@every_module
def test_every_module_scores_a_writer_exactly(name):
    metric = load(name, keep_in_memory=True)
    assert forced_models.evaluate_writer(metric) == score_writer(metric)


@pytest.mark.parametrize("arguments", [{"batch_eval_metrics": True}, {"eval_do_concat_batches": False}])
def test_writer_scores_the_same_however_it_is_evaluated(kieval, expected_of_writer, arguments):
    assert expected_of_writer["invalid_predictions"] == 1
    assert forced_models.evaluate_writer(kieval, **arguments) == expected_of_writer


@pytest.mark.parametrize("kind", ["tagging", "writing"])
@pytest.mark.parametrize("by_batch", [False, True])
def test_two_processes_score_the_same(expected_of_tagger, expected_of_writer, kind, by_batch):
    """20 receipts do not divide evenly: what the sampler repeats must not count twice."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launch, str(ROOT / "tests" / "forced_models.py"), kind, *["--by-batch"] * by_batch]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    scores = [json.loads(part.split("\n")[0]) for part in output.split("SCORES ")[1:]]
    assert scores == [expected_of_tagger if kind == "tagging" else expected_of_writer] * 2


def test_best_model_is_chosen_by_a_score(kieval, tmp_path):
    receipts, labels, tokenizer, examples = forced_models.tagging_case()
    best = {"metric_for_best_model": "my_aligned", "load_best_model_at_end": True}
    every_second = {"save_strategy": "steps", "save_steps": 2, "eval_steps": 2}
    arguments = tagging.training_arguments(str(tmp_path), 4, **best, **every_second)
    trainer = Trainer(
        tagging.make_model(tokenizer, labels),
        arguments,
        data_collator=tagging.collate,
        train_dataset=examples,
        eval_dataset=examples,
        compute_metrics=kieval.for_token_classification(labels=labels, words=tokenizer, prefix="my_", per_type=True),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    logged = [entry["eval_my_aligned"] for entry in trainer.state.log_history if "eval_my_aligned" in entry]
    assert len(logged) == 2
    assert trainer.state.best_metric == max(logged)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("token_classification.py", ["--groups", "--by-batch"]),
        ("generation.py", []),
        ("generation.py", ["--confidence"]),
    ],
)
def test_example_prints_the_score_at_every_evaluation(name, options):
    command = [sys.executable, str(ROOT / "examples" / name), "--steps", "2", *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    printed = [json.loads(line) for line in output.splitlines() if line.startswith('{"step"')]
    assert [line["step"] for line in printed] == [1, 2]
    assert all(line["documents"] == 20 and 0 <= line["aligned"] <= 1 for line in printed)


# Donut cannot read a tag inside an equal one, so groups and fields have other names.
TEXTS = st.sampled_from(["Tea", "3.00", "two words", "a/b", "-"])
FIELDS = st.dictionaries(st.sampled_from(["name", "price", "unit_price"]), TEXTS, min_size=1)
ROWS = st.lists(FIELDS, min_size=2, max_size=3)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["menu", "sub-total", "void.menu"]), st.one_of(TEXTS, FIELDS, ROWS), min_size=1
)


@settings(max_examples=50, deadline=None)
@given(DOCUMENTS)
def test_tags_are_read_as_donut_reads_them(document):
    text = generation.write_tags(document)
    donut = SimpleNamespace(tokenizer=SimpleNamespace(get_added_vocab=dict))
    donut.token2json = lambda *given, **options: DonutProcessor.token2json(donut, *given, **options)
    assert parse_answer(text) == donut.token2json(text)
