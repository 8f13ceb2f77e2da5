"""Files of tagged words: one word and its IOB2 tag on each line.

    Jean B-name
    Dubois I-name
    est O

In a folder every file is a document, named by its id; in a single file a blank line ends a document.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from .forms import normalise
from .problems import decode_utf8, quote

SUFFIXES = (".iob", ".bio", ".conll")
LINE_END = re.compile(r"\r\n|\r|\n")
SEPARATOR = re.compile(r"[ \t]+")
TAG = re.compile(r"O|[BI]-.+")


def read_iob(path):
    """(place, document) of each document in a file; a document is {"tokens": .., "tags": ..}."""
    documents = []
    for number, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            documents.append(None)
            continue
        if not documents or documents[-1] is None:
            documents.append((f"{path}:{number}", {"tokens": [], "tags": []}))
        word, tag = _read_line(line, f"{path}:{number}")
        documents[-1][1]["tokens"].append(word)
        documents[-1][1]["tags"].append(tag)
    return [document for document in documents if document]


def read_iob_document(path):
    """The whole file as one document; blank lines divide it into paragraphs, which do not matter."""
    tokens, tags = [], []
    for _, part in read_iob(path):
        tokens += part["tokens"]
        tags += part["tags"]
    return {"tokens": tokens, "tags": tags}


def find_iob_files(folder):
    """The files of tagged words in a folder; text files only where no other name tells what they are."""
    for suffixes in (SUFFIXES, (".txt",)):
        if files := sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in suffixes):
            return files
    return []


def _read_lines(path):
    return LINE_END.split(decode_utf8(Path(path).read_bytes(), path))


def _read_line(line, place):
    columns = SEPARATOR.split(line.strip(" \t"))
    if len(columns) != 2:
        raise ValueError(f"{place}: expected a word and its tag, found {_describe(columns, line)}")
    if not TAG.fullmatch(columns[1]):
        raise ValueError(f"{place}: expected an IOB2 tag (O, B-type or I-type), got {quote(columns[1])}")
    return columns


def _describe(columns, line):
    if len(columns) == 1:
        return f"only {quote(line)}"
    remedy = f"awk '{{print $1, ${len(columns)}}}'"
    return f"{len(columns)} columns in {quote(line)}: keep the word and its tag only, e.g. with {remedy}"


def format_iob(document):
    """One document, in any accepted form, as lines of words and tags.

    >>> print(format_iob([("name", "Jean Dubois"), ("date", "1871")]), end="")
    Jean B-name
    Dubois I-name
    1871 B-date
    """
    lines = []
    for group in normalise(document):
        for entity in group["entities"]:
            category = entity["type"]
            if SEPARATOR.search(category) or "\n" in category:
                raise ValueError(f"the category {quote(category)} has white space, which a tag must not have")
            for position, word in enumerate(entity["value"].split()):
                tag = "O" if not category else f"{'I' if position else 'B'}-{category}"
                lines.append(f"{word} {tag}\n")
    return "".join(lines)


def write_iob(documents, path):
    """Write documents, in any accepted form: a mapping from ids into a folder, a list into one file."""
    path = Path(path)
    if isinstance(documents, Mapping):
        for identifier in documents:
            if Path(str(identifier)).name != str(identifier):
                raise ValueError(f"the id {quote(str(identifier))} cannot name a file")
        texts = {identifier: format_iob(document) for identifier, document in documents.items()}
        path.mkdir(parents=True, exist_ok=True)
        for identifier, text in texts.items():
            (path / f"{identifier}.iob").write_text(text, "utf-8")
        return
    texts = [format_iob(document) for document in documents]
    if "" in texts:
        raise ValueError(f"document {texts.index('')} is empty, which one file cannot tell: write a folder")
    path.write_text("\n".join(texts), "utf-8")
