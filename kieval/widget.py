"""The page of a metric: what each Space shows. A metric's `app.py` gives its examples, options and words."""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import evaluate
import gradio as gr

from .drawing import (
    draw_alignment,
    draw_all_scores,
    draw_bars,
    draw_documents,
    draw_other_input,
    draw_problem,
    draw_scores,
    draw_section,
)
from .markup import escape
from .page_options import CONFIDENCE_LEVEL, ON_INVALID, SCHEMA
from .style import CSS, THEME
from .trial import (
    DOCUMENTS_LISTED,
    FILE_TYPES,
    TAGGED_WORDS,
    Corpus,
    check_options,
    score_document,
    write_code,
    write_corpus_code,
)

FILE_SIZE = "20mb"
KEEP_UPLOADS = (600, 3600)  # looked at every 600 s, deleted after 3600 s
PROGRESS = gr.Progress()
PROBLEMS = (ValueError, RecursionError)  # what is wrong with documents, files or options
LAST = "These are the results of the last input that could be scored."
PRESS = "These are the results of other input: press Score the files."
CLOSED = 0  # Of a panel that False has closed, Gradio draws the content only when it opens, and can lose what is typed.
DOWNLOAD = """(text, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}"""
# The arrow keys move between radio buttons of one name. Gradio gives each its own, and a new one when it changes.
ARROW_KEYS = """<script>document.addEventListener("keydown", ({target}) => {
  const choices = target.type === "radio" && target.closest("fieldset");
  if (choices) choices.querySelectorAll("[type=radio]").forEach((radio) => { radio.name = choices.id; });
});</script>"""


@dataclass(frozen=True)
class Example:
    """A document that teaches something. Prediction and reference are JSON text or plain data."""

    title: str
    note: str
    prediction: object
    reference: object
    options: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A metric's examples, options and words."""

    script: Path
    title: str
    question: str
    about: str
    sources: dict
    scores: dict
    examples: list
    options: list = ()
    about_csv: str = "a row for each document, a column for each entity type, in a cell one value as it stands."
    draw_extra: Callable = lambda result, options: ""
    extra_options: Callable = lambda options: {}

    def build(self):
        """The page as Gradio blocks."""
        return _Builder(self).blocks

    def launch(self, **settings):
        looks = {"theme": THEME, "css": CSS, "head": ARROW_KEYS, "footer_links": ["api"]}
        limits = {"max_file_size": FILE_SIZE, "ssr_mode": False, "run_history": False, "enable_monitoring": False}
        return self.build().launch(**looks, **limits, **settings)

    @property
    def folder(self):
        """The name that the module's folder has in a clone: that of its script."""
        return Path(self.script).stem

    @property
    def all_options(self):
        return [*self.options, SCHEMA, ON_INVALID]


@dataclass(frozen=True)
class Outcome:
    """What the page shows after scoring."""

    report: str
    code: str
    result: dict

    @property
    def text(self):
        return json.dumps(self.result, indent=2, ensure_ascii=False)


class Scorer:
    """Scores what the visitor gave with one loaded metric."""

    def __init__(self, page):
        self.page = page
        self.metric = evaluate.load(str(page.script), keep_in_memory=True)

    def read_options(self, values):
        """Options that differ from their defaults, from what the components hold."""
        read = {option.name: option.read(value) for option, value in zip(self.page.all_options, values, strict=True)}
        options = check_options({o.name: read[o.name] for o in self.page.all_options if read[o.name] != o.default})
        self.metric.signature(**options)  # raises where an option is wrong
        return options

    def score_document(self, prediction, reference, options):
        wanted = options | {"per_type": True} | self.page.extra_options(options)
        result = score_document(self.metric, prediction, reference, wanted)
        alignment = self.metric.explain(prediction, reference, **options)
        report = self._report(result, options, before=draw_section("Corrections", draw_alignment(alignment)))
        return Outcome(report, write_code(self.page.folder, prediction, reference, wanted), result)

    def score_files(self, predictions, references, level, progress, options):
        corpus = Corpus(predictions, references, options.get("on_invalid", "raise"), progress)
        wanted = options | {"per_type": True} | self.page.extra_options(options)
        if len(corpus) <= DOCUMENTS_LISTED:
            wanted["per_document"] = True
        if len(corpus) > 1:
            wanted["confidence_level"] = level
        counts = corpus.count(self.metric, wanted, progress)
        result = self.metric.score(counts, **wanted)
        worst = corpus.worst(self.metric, counts, options)
        documents = draw_documents(worst, self.metric.MAIN_SCORE, len(corpus))
        report = self._report(result, options, _note_of_missing(corpus.missing), documents, level)
        return Outcome(report, write_corpus_code(self.page.folder, predictions, references, wanted), result)

    def _report(self, result, options, before, after="", level=None):
        scores = draw_scores(result, self.page.scores.items(), level)
        parts = [scores, before, *self._bars(result), self.page.draw_extra(result, options), after]
        return f'<div class="report">{"".join(parts)}{draw_all_scores(result)}</div>'

    def _bars(self, result):
        for family, score in self.metric.SHOWN_PER_TYPE.items():
            kind = "group type" if "group" in family else "entity type"
            bars = draw_bars(result.get(family), score)
            yield draw_section(f"By {kind}", bars, f"{escape(score)}, the worst first")


def _note_of_missing(missing):
    if not missing:
        return ""
    names = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
    return f'<p class="note">{len(missing)} documents without a prediction count as empty: {escape(names)}</p>'


class _Builder:
    """The components of a page and what happens between them."""

    def __init__(self, page):
        self.page, self.scorer = page, Scorer(page)
        first = page.examples[0]
        texts = write_document(first.prediction), write_document(first.reference)
        outcome = self.scorer.score_document(*texts, first.options)
        with gr.Blocks(title=page.title, analytics_enabled=False, delete_cache=KEEP_UPLOADS) as self.blocks:
            gr.HTML(_head(page), apply_default_css=False)
            with gr.Row(elem_id="columns"):
                with gr.Column(scale=9, min_width=320, elem_id="input"):
                    self._add_inputs(first)
                with gr.Column(scale=11, min_width=320, elem_id="output"):
                    self._add_outputs(outcome)
            self._connect()

    def _add_inputs(self, example):
        self.mode = gr.State("document")
        self.chosen = gr.State((None, None))  # the files
        self.scored = gr.State(None)  # the files and settings of the report, where it is not that of a document
        with gr.Tabs():
            with gr.Tab("One document") as self.document_tab:
                titles = [example.title for example in self.page.examples]
                self.example = gr.Radio(titles, value=example.title, label="Examples", elem_id="examples")
                self.note = gr.HTML(_note(example), elem_id="note", apply_default_css=False)
                self.prediction = _editor("Prediction", example.prediction)
                self.problem = _problem("problem")
                self.reference = _editor("Reference", example.reference)
            with gr.Tab("Files") as self.files_tab:
                gr.HTML(_about_files(self.page), apply_default_css=False)
                self.files = [_upload("Predictions"), _upload("References")]
                self.level = CONFIDENCE_LEVEL.component(CONFIDENCE_LEVEL.default)
                self.file_problem = _problem("file-problem")
                self.score_files = gr.Button("Score the files", variant="primary", elem_id="score-files")
        with gr.Accordion("Options", open=bool(example.options) or CLOSED, elem_id="options") as self.option_panel:
            self.options = [
                option.component(example.options.get(option.name, option.default)) for option in self.page.all_options
            ]
            self.option_problem = _problem("option-problem")

    def _add_outputs(self, outcome):
        self.other_input = _problem("other-input")
        self.report = gr.HTML(outcome.report, elem_id="report", apply_default_css=False)
        with gr.Accordion("The same in Python", open=False, elem_id="python"):
            self.code = gr.Code(
                outcome.code,
                language="python",
                label="Beside the module's folder",
                interactive=False,
                max_lines=20,
                elem_id="code",
            )
        self.result_text = gr.Textbox(outcome.text, visible=False)
        self.file_name = gr.Textbox(f"{self.page.folder}.json", visible=False)
        self.download = gr.Button("Download the result (JSON)", elem_id="download")

    def _connect(self):
        documents, settings = [self.prediction, self.reference], [self.level, *self.options]
        state = [self.mode, self.scored, self.chosen]
        outputs = [*state, self.problem, self.file_problem, self.option_problem, self.other_input]
        outputs += [self.report, self.code, self.result_text, self.download]
        quiet = {"api_visibility": "private", "show_progress": "hidden"}
        self.example.input(
            self._show_example, self.example, [self.note, *documents, *self.options, self.option_panel], **quiet
        )
        # `change`, because `input` does not tell of pasted text
        gr.on(
            [component.change for component in [*documents, *settings]],
            self._follow,
            [*state, *documents, *settings],
            outputs,
            trigger_mode="always_last",
            concurrency_limit=4,
            **quiet,
        )
        # of two files given at once the second must not be forgotten, as it would be by default
        gr.on(
            [file.change for file in self.files],
            self._choose,
            [self.scored, *self.files, *settings],
            outputs,
            trigger_mode="always_last",
            **quiet,
        )
        self.score_files.click(
            self._score_files,
            [*self.files, *settings],
            outputs,
            api_visibility="private",
            show_progress_on=self.report,
            concurrency_limit=2,
        ).then(self._compare_files, [self.scored, *self.files, *settings], outputs, **quiet)
        self.document_tab.select(self._open_document, [self.mode, *documents, *self.options], outputs, **quiet)
        self.files_tab.select(self._open_files, [self.scored, self.chosen, *settings], outputs, **quiet)
        self.download.click(None, [self.result_text, self.file_name], js=DOWNLOAD, api_visibility="private")
        gr.api(self._answer, api_name="score")

    # What happens: each gives the components that change

    def _follow(self, mode, scored, chosen, prediction, reference, *settings):
        """After a change: a document is scored at once, files wait for their button."""
        if mode == "files":
            return self._compare(scored, chosen, *settings)
        return self._score_document(prediction, reference, *settings[1:])

    def _score_document(self, prediction, reference, *values):
        score = functools.partial(self.scorer.score_document, prediction or "", reference or "")
        return self._try(score, values, self.problem, {self.scored: None})

    def _score_files(self, predictions, references, level, progress=PROGRESS, *values):
        if not (predictions and references):
            return self._keep(PRESS, {self.file_problem: draw_problem("give both files, predictions and references")})
        score = functools.partial(self.scorer.score_files, predictions, references, level, progress)
        scored = ((predictions, references), level, *values)
        return self._try(score, values, self.file_problem, {self.scored: scored})

    def _try(self, score, values, problem, success):
        try:
            options = self.scorer.read_options(values)
        except PROBLEMS as error:
            return self._keep(LAST, {problem: "", self.option_problem: draw_problem(error)})
        try:
            outcome = score(options)
        except PROBLEMS as error:
            return self._keep(LAST, {problem: draw_problem(error), self.option_problem: ""})
        return {
            problem: "",
            **self._confirm(),
            self.report: outcome.report,
            self.code: outcome.code,
            self.result_text: outcome.text,
            **success,
        }

    def _confirm(self):
        """The report is that of the input."""
        return {self.option_problem: "", self.other_input: "", self.download: gr.Button(interactive=True)}

    def _keep(self, why, changes):
        """The report stays, as one of other input."""
        return {self.other_input: draw_other_input(why), self.download: gr.Button(interactive=False), **changes}

    def _compare(self, scored, chosen, *settings):
        """Whether the report is that of the chosen files and options."""
        try:
            self.scorer.read_options(settings[1:])
        except PROBLEMS as error:
            return self._keep(PRESS, {self.option_problem: draw_problem(error)})
        return self._confirm() if scored == (chosen, *settings) else self._keep(PRESS, {self.option_problem: ""})

    def _compare_files(self, scored, predictions, references, *settings):
        chosen = (predictions, references)
        return {self.chosen: chosen, **self._compare(scored, chosen, *settings)}

    def _choose(self, *inputs):
        return {self.file_problem: "", **self._compare_files(*inputs)}

    def _open_files(self, scored, chosen, *settings):
        return {self.mode: "files", **self._compare(scored, chosen, *settings)}

    def _open_document(self, mode, *inputs):
        """Score the document again after the files. Gradio also tells of the tab that is open from the start."""
        return gr.skip() if mode == "document" else {self.mode: "document", **self._score_document(*inputs)}

    def _show_example(self, title):
        example = next(example for example in self.page.examples if example.title == title)
        shown = [option.shown(example.options.get(option.name, option.default)) for option in self.page.all_options]
        panel = gr.Accordion(open=True) if example.options else gr.skip()
        return [_note(example), write_document(example.prediction), write_document(example.reference), *shown, panel]

    def _answer(self, prediction: dict | list | str, reference: dict | list | str, options: dict | None = None) -> dict:
        """Scores of one document. Options are those of the metric, e.g. {"per_type": true}."""
        try:
            return score_document(self.scorer.metric, prediction, reference, options or {})
        except (ValueError, TypeError, RecursionError) as error:
            raise gr.Error(str(error), print_exception=False) from None


def _head(page):
    links = " · ".join(
        f'<a href="{escape(url)}" rel="noopener">{escape(name)}</a>' for name, url in page.sources.items()
    )
    return (
        f'<header><h1>{escape(page.title)}</h1><p class="question">{escape(page.question)}</p>'
        f"<p>{escape(page.about)} {links}</p></header>"
    )


def _note(example):
    return f'<p class="note">{escape(example.note)}</p>'


def _about_files(page):
    return (
        '<p class="note">A corpus: two files of up to 20 MB, of JSON (.jsonl, .ndjson, .json), CSV, Parquet, '
        f"or tagged words ({', '.join(TAGGED_WORDS)}). Documents are paired by id where they have ids, else by "
        f"position. CSV: {escape(page.about_csv)}</p>"
    )


def _editor(label, document):
    return gr.Textbox(
        write_document(document), label=label, lines=9, max_lines=16, elem_id=label.lower(), elem_classes="editor"
    )


def _upload(label):
    return gr.File(label=label, file_types=list(FILE_TYPES), elem_id=label.lower(), height=120)


def _problem(elem_id):
    return gr.HTML("", elem_id=elem_id, elem_classes="problem-place", apply_default_css=False)


def write_document(document):
    """A document as JSON that is pleasant to read and edit: what is short stands on one line."""
    return document if isinstance(document, str) else _format(document, 0)


def _format(value, indent, width=64):
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= width or not isinstance(value, dict | list) or not value:
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {_format(item, indent + 2)}" for key, item in value.items()]
    else:
        items = [_format(item, indent + 2) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(pad + item for item in items) + f"\n{' ' * indent}{closing}"
