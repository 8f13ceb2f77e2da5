"""The modules inside evaluate: loading, writing, combining, pickling, processes."""

import json
import os
import pickle
import shutil
import subprocess
import sys

import evaluate
import pytest
from helpers import MODULES, ROOT, load

PREDICTION = {"menu": [{"name": "Latte", "price": "4.50"}], "total": "4.50"}
REFERENCE = {"menu": [{"name": "Latte", "price": "4.50"}, {"name": "Tea", "price": "3.00"}], "total": "7.50"}
DOCUMENTS = {"predictions": [PREDICTION] * 3, "references": [REFERENCE] * 3}
every_module = pytest.mark.parametrize("name", MODULES)


@every_module
@pytest.mark.parametrize("keep_in_memory", [True, False])
def test_forms_and_ways_of_adding_can_be_mixed(name, keep_in_memory):
    metric = load(name, keep_in_memory=keep_in_memory)
    expected = metric.compute(**DOCUMENTS)
    metric.add(prediction=json.dumps(PREDICTION), reference=REFERENCE)
    metric.add(predictions=PREDICTION, references=json.dumps(REFERENCE))
    assert len(metric) == 2
    assert metric.compute(predictions=[PREDICTION], references=[REFERENCE]) == expected
    assert metric.compute(**DOCUMENTS) == expected


@every_module
def test_combined_with_itself_under_other_options(name):
    plain, loose = load(name, keep_in_memory=True), load(name, keep_in_memory=True, schema={"*": "string"})
    documents = {"predictions": [{"total": "LATTE"}], "references": [{"total": "latte"}]}
    both = evaluate.combine({"plain": plain, "loose": loose}, force_prefix=True)
    expected = {f"plain_{key}": value for key, value in plain.compute(**documents).items()}
    expected |= {f"loose_{key}": value for key, value in loose.compute(**documents).items()}
    assert both.compute(**documents) == expected
    both.add(documents["predictions"][0], documents["references"][0])
    assert both.compute() == expected
    both.add_batch(**documents)
    assert both.compute() == expected


def test_combination_of_all_modules_takes_the_shared_options():
    combined = evaluate.combine([load(name, keep_in_memory=True) for name in MODULES], force_prefix=True)
    result = combined.compute(**DOCUMENTS, per_type=True, per_document=True, schema={"*": "string"})
    for name in MODULES:
        assert result[f"{name}_documents"] == 3


def test_seed_given_at_loading_is_the_default():
    documents = {"predictions": [{"a": str(i % 3)} for i in range(40)], "references": [{"a": "1"}] * 40}
    options = {"confidence_level": 0.9, "n_resamples": 20}
    loaded, plain = load("kieval", seed=5), load("kieval")
    assert loaded.compute(**documents, **options) == plain.compute(**documents, **options, seed=5)
    assert loaded.compute(**documents, **options) != plain.compute(**documents, **options)


def test_counts_of_another_metric_are_refused():
    counts = load("kieval").count(**DOCUMENTS)
    with pytest.raises(ValueError, match="these are no counts of entity_f1"):
        load("entity_f1").score(counts)


@every_module
def test_wrong_option_at_loading_is_an_error(name):
    with pytest.raises(ValueError, match="mony"):
        load(name, schema={"*": "mony"})


@every_module
def test_pickled_metric_scores_the_same(name):
    metric = load(name, schema={"*": "string"})
    expected = metric.compute(**DOCUMENTS)
    copy = pickle.loads(pickle.dumps(metric))
    assert (type(copy), copy.compute(**DOCUMENTS)) == (type(metric), expected)
    metric.add_batch(**DOCUMENTS)
    with pytest.raises(TypeError, match="3 documents are added and not scored"):
        pickle.dumps(metric)
    assert metric.compute() == expected


@every_module
def test_pickled_metric_works_in_another_process(name, tmp_path):
    metric = load(name)
    (tmp_path / "metric.pkl").write_bytes(pickle.dumps((metric, DOCUMENTS)))
    script = """
        import pickle, sys, evaluate
        metric, documents = pickle.load(open(sys.argv[1], "rb"))
        print(metric.compute(**documents)["documents"])
    """
    assert run(script, str(tmp_path / "metric.pkl")) == "3\n"


@every_module
def test_folder_works_alone_and_offline(name, tmp_path):
    shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    script = """
        import json, sys, evaluate
        documents = json.loads(sys.argv[1])
        print(json.dumps(evaluate.load(sys.argv[2]).compute(**documents)))
    """
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache"), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    output = run(script, json.dumps(DOCUMENTS), f"./{name}", cwd=tmp_path, environment=environment)
    assert json.loads(output) == load(name).compute(**DOCUMENTS)


@every_module
def test_two_real_processes_share_one_evaluation(name, tmp_path):
    script = """
        import json, sys, evaluate
        rank, folder, cache = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        metric = evaluate.load(folder, num_process=2, process_id=rank, experiment_id="both", cache_dir=cache)
        documents = json.loads(sys.argv[4])
        if rank == 0:
            documents = {side: given[:2] for side, given in documents.items()}
        else:
            documents = {side: given[2:] for side, given in documents.items()}
        print(json.dumps(metric.compute(**documents)))
    """
    arguments = [str(ROOT / name), str(tmp_path), json.dumps(DOCUMENTS)]
    processes = [start(script, str(rank), *arguments) for rank in (0, 1)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert json.loads(outputs[0]) == load(name).compute(**DOCUMENTS)
    assert json.loads(outputs[1]) is None


@every_module
def test_rank_without_documents_takes_part(name, tmp_path):
    script = """
        import json, sys, evaluate
        rank, folder, cache = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        metric = evaluate.load(folder, num_process=2, process_id=rank, experiment_id="one", cache_dir=cache)
        documents = json.loads(sys.argv[4]) if rank == 0 else {"predictions": [], "references": []}
        print(json.dumps(metric.compute(**documents)))
    """
    arguments = [str(ROOT / name), str(tmp_path), json.dumps(DOCUMENTS)]
    processes = [start(script, str(rank), *arguments) for rank in (0, 1)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert json.loads(outputs[0])["documents"] == 3


def start(script, *arguments, cwd=ROOT, environment=None):
    lines = script.splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    code = "\n".join(line[indent:] for line in lines)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
    )


def run(script, *arguments, **options):
    process = start(script, *arguments, **options)
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    return output
