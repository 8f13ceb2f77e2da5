"""The few methods of a tokenizer that hooks use, over a list of tokens, without the libraries behind a real one."""


class FakeTokenizer:
    """Tokens of WordPiece (##) or SentencePiece (▁ before a word); the first four are special."""

    def __init__(self, tokens):
        self.tokens = ["<pad>", "</s>", "<s>", "<unk>", *tokens]
        self.all_special_ids = [0, 1, 2, 3]
        self.unk_token_id = 3

    def ids(self, text):
        """The ids of tokens that are separated by a space."""
        return [self.tokens.index(token) for token in text.split(" ")]

    def convert_ids_to_tokens(self, ids):
        return [self.tokens[token] for token in ids]

    def batch_decode(self, rows, skip_special_tokens, clean_up_tokenization_spaces):
        assert not skip_special_tokens, "this would delete the tags"
        assert not clean_up_tokenization_spaces, "this would change the values"
        return [self._decode(row) for row in rows]

    def _decode(self, row):
        text = " ".join(self.tokens[token] for token in row)
        if any("▁" in token for token in self.tokens):
            return text.replace(" ", "").replace("▁", " ").strip()
        return text.replace(" ##", "").removeprefix("##")
