"""The options of a metric as words of the command line: --per-type --thresholds auto."""

import argparse
import dataclasses
import json
import re
import textwrap

ARGUMENT = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)


def parse_options(metric, words):
    """Options of the metric from words like --per-type --thresholds auto."""
    fields = {field.name: field for field in dataclasses.fields(metric.OPTIONS)}
    options, words = {}, list(words)
    while words:
        word = words.pop(0)
        name = word.removeprefix("--").split("=")[0].replace("-", "_")
        if not word.startswith("--") or name not in fields:
            known = ", ".join(map(_word, fields))
            raise ValueError(f"unknown option {word!r}; {metric.name} has {known}")
        if "=" in word:
            options[name] = _read_value(word.split("=", 1)[1])
        elif _is_switch(fields[name]):
            options[name] = True
        elif words:
            options[name] = _read_value(words.pop(0))
        else:
            raise ValueError(f"option {word} needs a value")
    return options


def _word(name):
    return "--" + name.replace("_", "-")


def _is_switch(field):
    return field.type in (bool, "bool")


def _read_value(text):
    """A JSON value, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


# Help


class HelpWithOptions(argparse.Action):
    """--help that, after the name of a metric, lists its options too."""

    def __init__(self, option_strings, dest, load_metric):
        self.load_metric = load_metric
        text = "show this help; after the name of a metric, with its options"
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=text)

    def __call__(self, parser, given, values, option=None):
        own = f"\n{describe_options(self.load_metric(given.metric))}\n" if given.metric is not None else ""
        print(parser.format_help() + own, end="", flush=True)
        parser.exit()


def describe_options(metric):
    """The options of a metric with their defaults, as its description of its inputs explains them, some together."""
    fields = {field.name: field for field in dataclasses.fields(metric.OPTIONS)}
    lines = [f"options of {metric.name} (default); a value is JSON, such as null or [0.1, 0.2], or text:"]
    for names, text in ARGUMENT.findall(metric.inputs_description.split("\nReturns:")[0]):
        if own := [_describe(fields[name]) for name in names.split(", ") if name in fields]:
            lines.append(f"  {', '.join(own)}")
            lines += textwrap.wrap(" ".join(text.split()), 100, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return "\n".join(lines)


def _describe(field):
    if _is_switch(field):
        return f"{_word(field.name)} (off)"
    return f"{_word(field.name)} VALUE ({json.dumps(field.default)})"
