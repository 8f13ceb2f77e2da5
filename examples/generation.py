"""Train a model that reads an image and writes a document, as Donut does, and score it at every evaluation.

    python examples/generation.py [--metric kieval] [--steps 60] [--confidence]
    accelerate launch --cpu --num_processes 2 examples/generation.py

A tiny encoder of images and decoder of text, randomly initialised, and a tokenizer made here learn the receipts of
examples/receipts: nothing is downloaded. Needs requirements-training.txt.
"""

import argparse
import json
import tempfile
from pathlib import Path

import evaluate
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    MBartConfig,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
)

ROOT = Path(__file__).resolve().parent.parent
RECEIPTS = ROOT / "examples" / "receipts" / "references.jsonl"
PROMPT = "<s_receipt>"
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
LENGTH = 64
SIDE = 32


def read_receipts():
    """What the model has to write of each receipt: two rows of goods, the total and the date."""
    for line in RECEIPTS.read_text("utf-8").splitlines():
        document = json.loads(line)["document"]
        rows = [{"name": row["name"], "price": row["price"]} for row in document["menu"][:2]]
        yield {"menu": rows, "total": document["total"]["total_price"], "date": document["date"]}


def write_tags(content):
    """A document as Donut writes it.

    >>> write_tags({"menu": [{"name": "Tea"}, {"name": "Pie"}]})
    '<s_menu><s_name>Tea</s_name><sep/><s_name>Pie</s_name></s_menu>'
    """
    if isinstance(content, dict):
        return "".join(f"<s_{key}>{write_tags(part)}</s_{key}>" for key, part in content.items())
    if isinstance(content, list):
        return "<sep/>".join(map(write_tags, content))
    return content


def make_tokenizer(documents):
    """A tokenizer of words, with Donut's tags as special tokens; what is no known word is spelled.

    Its vocabulary is a list and not trained: training is not the same in every process.
    """
    texts = [text for document in documents for text in values(document)]
    words, characters = sorted({word for text in texts for word in text.split()}), sorted(set("".join(texts)) - {" "})
    vocabulary = [*SPECIAL, *characters, *(f"##{character}" for character in characters), *words]
    pieces = {piece: number for number, piece in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    names = sorted({name for document in documents for name in [*document, *document["menu"][0]]})
    made.add_tokens(
        [PROMPT, "<sep/>", *(f"<{slash}s_{name}>" for name in names for slash in ("", "/"))], special_tokens=True
    )
    return made


def values(content):
    if isinstance(content, dict):
        content = list(content.values())
    return [text for part in content for text in values(part)] if isinstance(content, list) else [content]


def draw(document):
    """An image of a document: a pixel for each character."""
    characters = list(" ".join(values(document)).encode())[: SIDE * SIDE]
    pixels = torch.zeros(SIDE * SIDE)
    pixels[: len(characters)] = torch.tensor(characters, dtype=torch.float) / 255
    return pixels.reshape(1, SIDE, SIDE)


def encode(document, tokenizer):
    ids = tokenizer.encode(write_tags(document), add_special_tokens=False) + [tokenizer.eos_token_id]
    return {"pixel_values": draw(document), "labels": ids}


def collate(examples):
    length = max(len(example["labels"]) for example in examples)
    return {
        "pixel_values": torch.stack([example["pixel_values"] for example in examples]),
        "labels": torch.tensor(
            [example["labels"] + [-100] * (length - len(example["labels"])) for example in examples]
        ),
    }


def make_model(tokenizer):
    encoder = ViTConfig(
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=96,
        image_size=SIDE,
        patch_size=8,
        num_channels=1,
    )
    decoder = MBartConfig(
        vocab_size=len(tokenizer),
        d_model=48,
        decoder_layers=1,
        decoder_attention_heads=4,
        decoder_ffn_dim=96,
        max_position_embeddings=LENGTH,
        is_decoder=True,
        add_cross_attention=True,
        scale_embedding=True,
    )
    model = VisionEncoderDecoderModel(VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder))
    prompt = tokenizer.convert_tokens_to_ids(PROMPT)
    for config in (model.config, model.generation_config):
        config.decoder_start_token_id = prompt
        config.pad_token_id = tokenizer.pad_token_id
        config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.max_length = LENGTH
    model.generation_config.forced_eos_token_id = None
    return model


class ConfidentTrainer(Seq2SeqTrainer):
    """Hands the log-probabilities of the generated tokens to the metric, for the confidence of every value."""

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None, **options):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss = model(**inputs).loss.detach()
        own = self.accelerator.unwrap_model(model)
        generated = own.generate(pixel_values=inputs["pixel_values"], return_dict_in_generate=True, output_scores=True)
        scores = own.compute_transition_scores(generated.sequences, generated.scores, normalize_logits=True)
        return loss, (generated.sequences, scores), inputs["labels"]


class PrintScores(TrainerCallback):
    def on_evaluate(self, arguments, state, control, metrics, **others):
        if state.is_world_process_zero:
            scores = {name.removeprefix("eval_"): value for name, value in metrics.items()}
            print(json.dumps({"step": state.global_step, **scores}), flush=True)


def training_arguments(folder, steps, **more):
    settings = {
        "max_steps": steps,
        "per_device_train_batch_size": 5,
        "per_device_eval_batch_size": 7,
        "learning_rate": 5e-3,
        "eval_strategy": "steps",
        "eval_steps": max(steps // 3, 1),
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
        "predict_with_generate": True,
    }
    return Seq2SeqTrainingArguments(folder, **{**settings, **more})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metric", default="kieval", help="the folder of a metric")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--confidence", action="store_true", help="take the probabilities of the tokens too")
    parser.add_argument("--by-batch", action="store_true", help="count every batch as it comes")
    given = parser.parse_args()
    torch.manual_seed(0)
    documents = list(read_receipts())
    tokenizer = make_tokenizer(documents)
    examples = [encode(document, tokenizer) for document in documents]
    metric = evaluate.load(str(ROOT / given.metric), keep_in_memory=True)
    trainer_class = ConfidentTrainer if given.confidence else Seq2SeqTrainer
    with tempfile.TemporaryDirectory() as folder:
        trainer = trainer_class(
            make_model(tokenizer),
            training_arguments(folder, given.steps, batch_eval_metrics=given.by_batch),
            data_collator=collate,
            train_dataset=examples,
            eval_dataset=examples,
            compute_metrics=metric.for_generation(tokenizer, documents=len(examples)),
            callbacks=[PrintScores()],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()


if __name__ == "__main__":
    main()
