"""Train a model that tags words, as LayoutLM does, and score it at every evaluation.

    python examples/token_classification.py [--metric kieval] [--steps 60] [--groups]
    accelerate launch --cpu --num_processes 2 examples/token_classification.py

A tiny LayoutLMv3 without images, randomly initialised, and a tokenizer made here learn the receipts of
examples/receipts: nothing is downloaded. Needs requirements-training.txt.
"""

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

import evaluate
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    LayoutLMv3Config,
    LayoutLMv3ForTokenClassification,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

ROOT = Path(__file__).resolve().parent.parent
RECEIPTS = ROOT / "examples" / "receipts" / "references.jsonl"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PADDING = {"input_ids": 0, "attention_mask": 0, "labels": -100, "bbox": [0, 0, 0, 0]}
MENU = ["menu.name", "menu.count", "menu.unit_price", "menu.price"]


def read_receipts():
    """The words of each receipt with a tag and a place on the page: a line for each row of goods and each field."""
    for line in RECEIPTS.read_text("utf-8").splitlines():
        words, tags, boxes = [], [], []
        for number, (label, fields) in enumerate(printed_lines(json.loads(line)["document"])):
            for column, (word, tag) in enumerate(tagged_words(label, fields)):
                words.append(word)
                tags.append(tag)
                boxes.append([10 * (column % 12), 5 * (number % 25), 10 * (column % 12) + 9, 5 * (number % 25) + 4])
        yield {"words": words, "tags": tags, "boxes": boxes}


def printed_lines(document):
    for name, value in document.items():
        if isinstance(value, list):
            yield from (("", [(f"{name}.{key}", text) for key, text in row.items()]) for row in value)
        elif isinstance(value, dict):
            yield from ((key, [(f"{name}.{key}", text)]) for key, text in value.items())
        else:
            yield name, [(name, value)]


def tagged_words(label, fields):
    if label:
        yield label.replace("_", " ").title() + ":", "O"
    for entity_type, text in fields:
        for index, word in enumerate(str(text).split()):
            yield word, f"{'I' if index else 'B'}-{entity_type}"


def make_tokenizer(receipts):
    """A tokenizer of word pieces: rare words have several, so that they have to be put together again.

    Its vocabulary is a list and not trained: training is not the same in every process.
    """
    words = Counter(word for receipt in receipts for word in receipt["words"])
    characters = sorted(set("".join(words)))
    frequent = sorted(word for word, number in words.items() if number > 1 and len(word) > 1 and word.isalnum())
    vocabulary = [*SPECIAL, *characters, *(f"##{character}" for character in characters), *frequent]
    pieces = {piece: number for number, piece in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def encode(receipt, tokenizer, labels):
    """Ids of pieces; the first piece of a word has the label of the word, the others have none."""
    ids, own_labels, boxes = [tokenizer.cls_token_id], [-100], [[0, 0, 0, 0]]
    for word, tag, box in zip(receipt["words"], receipt["tags"], receipt["boxes"], strict=True):
        pieces = tokenizer.encode(word, add_special_tokens=False)
        ids += pieces
        own_labels += [labels.index(tag)] + [-100] * (len(pieces) - 1)
        boxes += [box] * len(pieces)
    ids, own_labels, boxes = [*ids, tokenizer.sep_token_id], [*own_labels, -100], [*boxes, [0, 0, 0, 0]]
    return {"input_ids": ids, "labels": own_labels, "bbox": boxes, "attention_mask": [1] * len(ids)}


def collate(examples):
    length = max(len(example["input_ids"]) for example in examples)
    return {
        name: torch.tensor([example[name] + [padding] * (length - len(example["input_ids"])) for example in examples])
        for name, padding in PADDING.items()
    }


def make_model(tokenizer, labels):
    return LayoutLMv3ForTokenClassification(
        LayoutLMv3Config(
            vocab_size=len(tokenizer),
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: number for number, label in enumerate(labels)},
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=96,
            coordinate_size=8,
            shape_size=8,
            max_position_embeddings=1024,
            max_2d_position_embeddings=128,
            visual_embed=False,
        )
    )


class PrintScores(TrainerCallback):
    def on_evaluate(self, arguments, state, control, metrics, **others):
        if state.is_world_process_zero:
            scores = {name.removeprefix("eval_"): value for name, value in metrics.items()}
            print(json.dumps({"step": state.global_step, **scores}), flush=True)


def training_arguments(folder, steps, **more):
    settings = {
        "max_steps": steps,
        "per_device_train_batch_size": 5,
        "per_device_eval_batch_size": 3,
        "learning_rate": 5e-3,
        "eval_strategy": "steps",
        "eval_steps": max(steps // 3, 1),
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
        # The ids of the tokens are handed to the metric with the labels: the words are rebuilt from them, in whatever
        # order and in whichever process a document is evaluated.
        "label_names": ["labels", "input_ids"],
    }
    return TrainingArguments(folder, **{**settings, **more})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metric", default="kieval", help="the folder of a metric")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--groups", action="store_true", help="put words of goods into rows")
    parser.add_argument("--by-batch", action="store_true", help="count every batch as it comes")
    given = parser.parse_args()
    torch.manual_seed(0)
    receipts = list(read_receipts())
    labels = sorted({tag for receipt in receipts for tag in receipt["tags"]})
    tokenizer = make_tokenizer(receipts)
    examples = [encode(receipt, tokenizer, labels) for receipt in receipts]
    metric = evaluate.load(str(ROOT / given.metric), keep_in_memory=True)
    groups = {"menu": MENU} if given.groups else None
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            make_model(tokenizer, labels),
            training_arguments(folder, given.steps, batch_eval_metrics=given.by_batch),
            data_collator=collate,
            train_dataset=examples,
            eval_dataset=examples,
            compute_metrics=metric.for_token_classification(labels=labels, words=tokenizer, groups=groups),
            callbacks=[PrintScores()],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()


if __name__ == "__main__":
    main()
