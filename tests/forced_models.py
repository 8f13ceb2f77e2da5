"""Models that give known answers, evaluated by the Trainers of transformers. Run by tests, also in two processes:

torchrun --standalone --nproc-per-node 2 tests/forced_models.py tagging [--by-batch]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import evaluate
import torch
from transformers import Seq2SeqTrainer, Trainer
from transformers.modeling_outputs import Seq2SeqLMOutput, TokenClassifierOutput

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import generation  # noqa: E402
import token_classification as tagging  # noqa: E402

MISSED = "B-menu.count"


class ForcedTagger(torch.nn.Module):
    """Gives the right tag to every word, but O to one tag; hidden states beside the logits, as models do."""

    main_input_name = "input_ids"

    def __init__(self, labels):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.labels = labels

    def forward(self, input_ids, bbox, attention_mask, labels):
        chosen = torch.where(labels == self.labels.index(MISSED), self.labels.index("O"), labels).clamp(min=0)
        logits = torch.nn.functional.one_hot(chosen, len(self.labels)) * 9.0
        hidden = torch.zeros(*input_ids.shape, 4)
        return TokenClassifierOutput(loss=self.weight.sum(), logits=logits, hidden_states=(hidden,))


class ForcedWriter(torch.nn.Module):
    """Writes a known text for each image."""

    main_input_name = "pixel_values"

    def __init__(self, model, texts, tokenizer):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.config, self.generation_config = model.config, model.generation_config
        self.texts, self.tokenizer = texts, tokenizer

    def forward(self, pixel_values, labels):
        return Seq2SeqLMOutput(loss=self.weight.sum(), logits=torch.zeros(*labels.shape, 3))

    def generate(self, pixel_values, **options):
        texts = [self.texts[image.numpy().tobytes()] for image in pixel_values]
        rows = [self.tokenizer.encode(tagged_answer(text), add_special_tokens=False) for text in texts]
        length = max(map(len, rows))
        return torch.tensor([row + [self.tokenizer.pad_token_id] * (length - len(row)) for row in rows])


def tagged_answer(text):
    return f"{generation.PROMPT}{text}</s>"


def tagging_case():
    """Receipts, labels, tokenizer and encoded receipts."""
    receipts = list(tagging.read_receipts())
    labels = sorted({tag for receipt in receipts for tag in receipt["tags"]})
    tokenizer = tagging.make_tokenizer(receipts)
    return receipts, labels, tokenizer, [tagging.encode(receipt, tokenizer, labels) for receipt in receipts]


def evaluate_tagger(metric, words=None, preprocess=None, **arguments):
    """Scores of the forced tagger."""
    receipts, labels, tokenizer, examples = tagging_case()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            ForcedTagger(labels),
            tagging.training_arguments(folder, 1, **arguments),
            data_collator=tagging.collate,
            eval_dataset=examples,
            processing_class=tokenizer,
            compute_metrics=metric.for_token_classification(labels=labels, words=words or tokenizer),
            preprocess_logits_for_metrics=preprocess,
        )
        return own_scores(trainer.evaluate())


def documents_of_tagger():
    """What the forced tagger finds, and what there is."""
    references = [{"tokens": r["words"], "tags": r["tags"]} for r in tagging.read_receipts()]
    predictions = [{**r, "tags": ["O" if tag == MISSED else tag for tag in r["tags"]]} for r in references]
    return predictions, references


def documents_of_writer():
    """What the forced writer answers: one receipt without its total, one broken off, the others right."""
    references = list(generation.read_receipts())
    predictions = [dict(document) for document in references]
    del predictions[3]["total"]
    return predictions, references


def evaluate_writer(metric, **arguments):
    """Scores of the forced writer."""
    predictions, references = documents_of_writer()
    tokenizer = generation.make_tokenizer(references)
    texts = [generation.write_tags(document) for document in predictions]
    texts[5] = texts[5][:-20]
    answers = {generation.draw(r).numpy().tobytes(): text for r, text in zip(references, texts, strict=True)}
    with tempfile.TemporaryDirectory() as folder:
        trainer = Seq2SeqTrainer(
            ForcedWriter(generation.make_model(tokenizer), answers, tokenizer),
            generation.training_arguments(folder, 1, **arguments),
            data_collator=generation.collate,
            eval_dataset=[generation.encode(document, tokenizer) for document in references],
            compute_metrics=metric.for_generation(tokenizer, documents=len(references)),
        )
        return own_scores(trainer.evaluate())


def own_scores(metrics):
    others = ("loss", "runtime", "samples_per_second", "steps_per_second", "model_preparation_time", "epoch")
    scores = {name.removeprefix("eval_"): value for name, value in metrics.items()}
    return {name: value for name, value in scores.items() if name not in others}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["tagging", "writing"])
    parser.add_argument("--by-batch", action="store_true")
    asked = parser.parse_args()
    loaded = evaluate.load(str(ROOT / "kieval"), keep_in_memory=True)
    run = {"tagging": evaluate_tagger, "writing": evaluate_writer}[asked.kind]
    print("SCORES " + json.dumps(run(loaded, batch_eval_metrics=asked.by_batch)), flush=True)
