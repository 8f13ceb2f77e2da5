"""`compute_metrics` for models that write their answer, such as Donut: generated ids and labels -> documents."""

import math
import os
import warnings

import numpy as np

from .answers import TAG, answer_with_confidence, parse_answer, with_confidence
from .forms import normalise
from .hooks import Hook, first_of, is_whole, second_of
from .problems import DocumentError

UNPARSABLE = ""
REPEATED = (
    "a Seq2SeqTrainer of several processes evaluates some documents twice where their number does not divide evenly; "
    "give for_generation the number of documents: documents=len(eval_dataset)"
)


class GenerationHook(Hook):
    """Answers are JSON text or Donut's tags, or what `parse` makes of them.

    With (ids, log-probabilities) as predictions, the confidence of a value is the smallest probability of its tokens.
    """

    def __init__(self, metric, tokenizer, parse, documents, prefix, options):
        self.tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        if not callable(getattr(self.tokenizer, "batch_decode", None)):
            raise ValueError(f"expected a tokenizer or a processor that has one, got {type(tokenizer).__name__}")
        if parse is not None and not callable(parse):
            raise ValueError(f"parse must be a function from a text to a document, got {type(parse).__name__}")
        if documents is not None and (not isinstance(documents, int) or documents < 0):
            raise ValueError(f"documents must be the number of documents of an evaluation, got {documents!r:.80}")
        self.parse, self.documents = parse, documents
        super().__init__(metric, prefix, {"on_invalid": "empty", **options})

    def _read(self, batch):
        ids, labels = (self._check_ids(first_of(side)) for side in (batch.predictions, batch.labels))
        if len(ids) != len(labels):
            raise ValueError(f"{len(ids)} answers were generated for {len(labels)} labels: generate one for each")
        probabilities = find_probabilities(ids, second_of(batch.predictions))
        once = self._rows_given_once(len(ids))
        return self._read_rows(ids[once], labels[once], None if probabilities is None else probabilities[once])

    def _rows_given_once(self, rows):
        """All rows but those at the end by which a Seq2SeqTrainer of several processes makes its last batches even."""
        if self.documents is None:
            if int(os.environ.get("WORLD_SIZE", 1)) > 1:
                warnings.warn(REPEATED, stacklevel=2)
            return slice(rows)
        return slice(max(self.documents - self._documents, 0))

    def _score(self):
        if self.documents is not None and self._documents != self.documents:
            raise ValueError(f"documents is {self.documents}, {self._documents} were evaluated")
        return super()._score()

    def _read_rows(self, ids, labels, probabilities):
        keep = self._kept_tokens()
        predictions = []
        for row, text in enumerate(self._decode(ids, keep)):
            probability = None
            if probabilities is not None:
                kept = keep(ids[row])
                tokens = ids[row][kept].tolist()
                probability = least_probability(self.tokenizer, tokens, text, probabilities[row][kept])
            predictions.append(self._prediction(text, probability, ("predictions", row)))
        references = [
            self._document(text, None, ("references", row)) for row, text in enumerate(self._decode(labels, keep))
        ]
        return predictions, references

    def _check_ids(self, ids):
        if ids.ndim == 2 and is_whole(ids):
            return ids
        raise ValueError(
            f"expected ids of generated tokens, got {ids.dtype} of shape {ids.shape}: "
            "use the Seq2SeqTrainer with predict_with_generate=True"
        )

    def _kept_tokens(self):
        """Which ids of a row are text: all but padding and special tokens that are no tags."""
        special = {int(token) for token in self.tokenizer.all_special_ids} - {self.tokenizer.unk_token_id}
        names = self.tokenizer.convert_ids_to_tokens(sorted(special))
        dropped = [token for token, name in zip(sorted(special), names, strict=True) if not TAG.fullmatch(name)]
        return lambda row: (row >= 0) & ~np.isin(row, dropped)

    def _decode(self, ids, keep):
        rows = [row[keep(row)].tolist() for row in ids]
        return self.tokenizer.batch_decode(rows, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _prediction(self, text, probability, place):
        try:
            return self._document(text, probability, place)
        except DocumentError:
            if self.options["on_invalid"] == "raise":
                raise
            return UNPARSABLE

    def _document(self, text, probability, place):
        answer = text if self.parse is None else self._parse(text, place)
        if not isinstance(answer, str):
            groups = normalise(answer, place)
            return groups if probability is None else with_confidence(groups, probability(0, len(text)))
        if probability is None:
            return normalise(parse_answer(answer, place), place)
        # The characters of a part of the text are found by where it stands.
        offset = max(text.find(answer), 0)
        return answer_with_confidence(answer, lambda start, end: probability(start + offset, end + offset), place)

    def _parse(self, text, place):
        try:
            answer = self.parse(text)
        except ValueError as error:
            raise DocumentError(place, f"parse: {error}") from None
        if answer is None:
            raise DocumentError(place, "parse found no document")
        return answer


def find_probabilities(ids, scores):
    """The probability of each generated id; those of a prompt, which have no score, are certain."""
    if scores is None or scores.ndim != 2 or is_whole(scores):
        return None
    prompt = ids.shape[1] - scores.shape[1]
    if prompt < 0 or len(scores) != len(ids):
        raise ValueError(f"expected a score for each generated id, got {scores.shape} for ids of {ids.shape}")
    if scores.size and scores.max() > 0:
        raise ValueError(
            f"scores must be log-probabilities, 0 or less, got {scores.max():g}: "
            "use model.compute_transition_scores(.., normalize_logits=True)"
        )
    return np.concatenate([np.ones((len(ids), prompt)), np.exp(scores.astype(float))], axis=1)


def least_probability(tokenizer, tokens, text, probabilities):
    """A function from characters of a text to the smallest probability of their tokens."""
    ends = locate_tokens(tokenizer, tokens, text)
    starts = [0, *ends[:-1]]

    def probability(start, end):
        of_tokens = [
            float(own)
            for own, first, last in zip(probabilities, starts, ends, strict=True)
            if first < end and last > start
        ]
        return min(of_tokens, default=1.0)

    return probability


def locate_tokens(tokenizer, tokens, text):
    """Where each token ends in the text. A token that is not found there, part of a character, ends with the next."""
    pieces = tokenizer.batch_decode(
        [[token] for token in tokens], skip_special_tokens=False, clean_up_tokenization_spaces=False
    )
    ends, position = [], 0
    for piece in pieces:
        piece = piece.strip()
        found = text.find(piece, position) if piece else -1
        if found >= 0:
            position = found + len(piece)
            ends.append(position)
        else:
            ends.append(math.inf)
    for number in range(len(ends) - 2, -1, -1):
        ends[number] = min(ends[number], ends[number + 1])
    return ends
