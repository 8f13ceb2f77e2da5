"""The options of a metric on its page: the component of each, and the value that it holds."""

import json
from dataclasses import dataclass

import gradio as gr


@dataclass(frozen=True)
class Option:
    """An option of the metric and how it is set.

    A switch, a choice, a slider (low, high, step), plain text where the default is text, else JSON or text.
    """

    name: str
    label: str
    info: str = ""
    default: object = None
    choices: tuple = ()
    range: tuple = ()

    def component(self, value):
        """The component that shows a value of the option."""
        shared = {"label": self.label, "info": self.info, "elem_id": f"option-{self.name}", "interactive": True}
        if isinstance(self.default, bool):
            return gr.Checkbox(value, **shared)
        if self.choices:
            return gr.Radio(list(self.choices), value=value, **shared)
        if self.range:
            low, high, step = self.range
            return gr.Slider(low, high, value, step=step, **shared)
        return gr.Textbox(self.shown(value), lines=1, max_lines=8, **shared)

    def shown(self, value):
        """What the component shows for a value of the option."""
        if not self._is_text():
            return value
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value, ensure_ascii=False)

    def read(self, value):
        """The option's value of what the component holds."""
        if not self._is_text() or self.name == "schema":
            return value if value not in ("", None) else self.default
        if isinstance(self.default, str):
            return value or None
        if not (value or "").strip():
            return self.default
        try:
            return json.loads(value)
        except ValueError:
            return value.strip()  # as on the command line: the metric knows which texts it takes

    def _is_text(self):
        return not (isinstance(self.default, bool) or self.choices or self.range)


SCHEMA = Option(
    "schema",
    "schema: when two values are the same",
    "Empty: equal texts. Else YAML or JSON, such as total: money, or the name business_documents.",
)
ON_INVALID = Option(
    "on_invalid",
    "on_invalid: a predicted text without JSON",
    "is an error, or an empty document.",
    default="raise",
    choices=("raise", "empty"),
)

CONFIDENCE_LEVEL = Option(
    "confidence_level",
    "confidence_level: of the intervals",
    "Scores of several documents have an interval: with a higher level it is surer, and wider.",
    default=0.95,
    choices=(0.9, 0.95, 0.99),
)
