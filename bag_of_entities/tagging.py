"""`compute_metrics` for models that tag words, such as LayoutLM: logits and labels -> documents."""

import re

import numpy as np

from .documents import group_entities, owners_of_components
from .forms import normalise
from .hooks import IGNORED, Hook, first_of, is_whole, second_of, to_numpy
from .problems import DocumentError, quote

TAG = re.compile(r"O|[BIES]-.+", re.DOTALL)
AS_IOB2 = {"E": "I", "S": "B"}
WORD_STARTS = ("\u2581", "\u0120")  # SentencePiece, byte-level BPE
WORD_CONTINUES = "##"  # WordPiece


class TaggingHook(Hook):
    """Words that have a label are judged. A word of several pieces has the tag of its first piece.

    The confidence of an entity is the smallest probability of the tags of its words.
    """

    def __init__(self, metric, labels, words, groups, prefix, options):
        self.tags = read_tags(labels)
        self.words = _check_words(words)
        self.groups = groups
        if groups is not None:
            _check_components(groups, self.tags)
        super().__init__(metric, prefix, options)

    def _read(self, batch):
        labels = first_of(batch.labels)
        chosen, probabilities = choose_tags(first_of(batch.predictions))
        if labels.ndim != 2 or chosen.shape != labels.shape:
            raise ValueError(
                f"expected a label for each token, got predictions of shape {chosen.shape} and labels of {labels.shape}"
            )
        words_of = self._find_words(batch, labels)
        predictions, references = [], []
        for row, (own_labels, own_chosen) in enumerate(zip(labels, chosen, strict=True)):
            positions, words = words_of(row)
            sure = None if probabilities is None else probabilities[row, positions]
            predictions.append(self._document(words, own_chosen[positions], sure, ("predictions", row)))
            references.append(self._document(words, own_labels[positions], None, ("references", row)))
        return predictions, references

    def _document(self, words, codes, probabilities, place):
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.tags):
            wrong = next(int(code) for code in codes if not 0 <= code < len(self.tags))
            raise DocumentError(place, f"{wrong} is no label: there are {len(self.tags)}, counted from 0")
        document = tag_document(words, [self.tags[code] for code in codes], probabilities)
        return document if self.groups is None else group_entities(document, self.groups)

    def _find_words(self, batch, labels):
        """A function from a row to the positions of its words and to the words."""
        if isinstance(self.words, list):
            return lambda row: self._listed_words(labels[row], row)
        ids = find_input_ids(batch, labels)
        if hasattr(self.words, "convert_ids_to_tokens"):
            return lambda row: rebuild_words(self.words, ids[row], labels[row] != IGNORED)
        return lambda row: _match_labels(labels[row], list(self.words(ids[row][ids[row] >= 0].tolist())), row)

    def _listed_words(self, labels, row):
        number = self._documents + row
        if number >= len(self.words):
            raise ValueError(f"words has {len(self.words)} documents and more were evaluated: give words for each")
        return _match_labels(labels, self.words[number], row)

    def _score(self):
        if isinstance(self.words, list) and self._documents != len(self.words):
            raise ValueError(f"words has {len(self.words)} documents, {self._documents} were evaluated")
        return super()._score()


def read_tags(labels):
    """The tags by their numbers, from a list or from a model's `config.id2label`.

    >>> read_tags({"0": "O", "1": "S-total"})
    ['O', 'B-total']
    """
    if isinstance(labels, dict):
        by_number = {int(number): name for number, name in labels.items()}
        if sorted(by_number) != list(range(len(by_number))):
            raise ValueError("labels must be numbered from 0 without gaps")
        labels = [by_number[number] for number in range(len(by_number))]
    for label in labels:
        if not isinstance(label, str) or not TAG.fullmatch(label):
            raise ValueError(f"labels must be O, B-type or I-type (also E-, S-), got {quote(label)}")
    return [AS_IOB2.get(label[0], label[0]) + label[1:] for label in labels]


def _check_components(groups, tags):
    types = sorted({tag[2:] for tag in tags if tag != "O"})
    for component in owners_of_components(groups):
        if component not in types:
            raise ValueError(f"groups: no label has the type {quote(component)}; there are {', '.join(types)}"[:200])


def _check_words(words):
    if callable(getattr(words, "convert_ids_to_tokens", None)) or callable(words):
        return words
    if isinstance(words, list | tuple) and not any(isinstance(document, str) for document in words):
        return [list(document) for document in words]
    raise ValueError(
        "words must be a tokenizer, a function from input ids to words, or the words of each document in the order of "
        f"evaluation, got {type(words).__name__}"
    )


def choose_tags(predictions):
    """The most probable tag of each token and its probability, which is unknown where only the tags are given."""
    if predictions.ndim == 2 and is_whole(predictions):
        return predictions, None
    if predictions.ndim != 3:
        raise ValueError(f"expected logits (documents, tokens, labels) or labels, got shape {predictions.shape}")
    logits = predictions.astype(float)
    # exp(largest) / sum of exp(all)
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return predictions.argmax(axis=-1), 1 / shares.sum(axis=-1)


def find_input_ids(batch, labels):
    """The ids of the tokens, from the inputs or from a second array of labels."""
    ids = second_of(batch.labels)
    if ids is None and batch.inputs is not None:
        inputs = batch.inputs
        ids = to_numpy(inputs["input_ids"] if hasattr(inputs, "keys") else inputs)
    if ids is None:
        raise ValueError(
            "the words cannot be rebuilt without the ids of the tokens: "
            'set label_names=["labels", "input_ids"] or include_for_metrics=["inputs"] in the TrainingArguments'
        )
    if ids.shape[0] != labels.shape[0]:
        raise ValueError(
            f"there are inputs of {ids.shape[0]} documents and labels of {labels.shape[0]}: with batch_eval_metrics "
            'the Trainer gathers no inputs of other processes; set label_names=["labels", "input_ids"] instead'
        )
    return ids


def _match_labels(labels, words, row):
    positions = np.flatnonzero(labels != IGNORED)
    if len(positions) != len(words):
        raise DocumentError(
            ("references", row),
            f"{len(positions)} tokens have a label and words has {len(words)} words: label first pieces only. "
            "Where words are cut off, or evaluation changes the order of documents, give the tokenizer as words",
        )
    return positions, words


def rebuild_words(tokenizer, ids, is_labelled):
    """The positions of the first pieces of the labelled words, and the words, without white space.

    A piece that has no label belongs to the word before it; so does one that the tokenizer marks as a
    continuation, for those who label all pieces.
    """
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    tokens = tokenizer.convert_ids_to_tokens([max(int(token), 0) for token in ids])
    is_marked = any(token.startswith(WORD_STARTS) for token in tokens)
    words, is_open = [], False
    for position, token in enumerate(tokens):
        starts = is_marked and token.startswith(WORD_STARTS)
        continues = token.startswith(WORD_CONTINUES) or is_marked and not starts
        if ids[position] < 0 or ids[position] in special:
            is_open = False
        elif is_labelled[position] and not (is_open and continues):
            words.append([position])
            is_open = True
        elif is_open and not (starts and not is_labelled[position]):
            words[-1].append(position)
        else:
            is_open = False
    pieces = [[int(ids[position]) for position in word] for word in words]
    texts = tokenizer.batch_decode(pieces, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return np.array([word[0] for word in words], int), ["".join(text.split()) for text in texts]


def tag_document(words, tags, probabilities=None):
    """The document of tagged words, as nested groups; see `normalise` for what tags mean.

    >>> tag_document(["Jean", "Valjean"], ["B-name", "I-name"], [0.9, 0.7])[0]["entities"][0]
    {'type': 'name', 'value': 'Jean Valjean', 'confidence': 0.7}
    """
    # The words are numbered, so that each entity tells which words it has.
    groups = normalise({"tokens": [str(number) for number in range(len(words))], "tags": tags})
    for group in groups:
        for entity in group["entities"]:
            numbers = [int(number) for number in entity["value"].split()]
            own_words = (str(words[number]).strip() for number in numbers)
            entity["value"] = " ".join(word for word in own_words if word)
            if probabilities is not None and entity["type"]:
                entity["confidence"] = float(min(probabilities[number] for number in numbers))
    return groups
