"""One function per tool. Each takes a corpus and returns a function that scores it and returns the score.

What a tool needs its documents to be is prepared before; only scoring is timed. A tool is imported inside its
function, since each has a virtual environment of its own.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent


def _module(name, **options):
    def prepare(corpus):
        import evaluate

        metric = evaluate.load(str(ROOT / name))
        return lambda: metric.compute(**corpus, **options)

    return prepare


def plain_kieval(corpus):
    """KIEval by its definition, in plain Python with scipy's assignment: the yardstick."""
    from plain_kieval import score

    return lambda: score(corpus["predictions"], corpus["references"])


def anls_star(corpus):
    from anls_star import anls_score

    pairs = list(zip(corpus["references"], corpus["predictions"], strict=True))
    return lambda: {"anls_star": sum(anls_score(reference, prediction) for reference, prediction in pairs) / len(pairs)}


def stickler(corpus):
    from stickler import ComparableField, ExactComparator, StructuredModel

    def field():
        return ComparableField(comparator=ExactComparator(), threshold=1.0, default=None)

    def model(name, texts, **others):
        annotations = {text: str | None for text in texts} | {other: kind for other, (kind, _) in others.items()}
        values = {text: field() for text in texts} | {other: value for other, (_, value) in others.items()}
        return type(name, (StructuredModel,), {"__annotations__": annotations, "__module__": __name__, **values})

    first = corpus["references"][0]
    item = model("Item", first["menu"][0])
    document = model("Document", [key for key in first if key != "menu"], menu=(list[item], ComparableField()))
    sides = [[document.from_json(given) for given in corpus[side]] for side in ("references", "predictions")]

    def run():
        scores = [
            reference.compare_with(prediction)["overall_score"] for reference, prediction in zip(*sides, strict=True)
        ]
        return {"stickler": sum(scores) / len(scores)}

    return run


def tree_edit_distance(corpus):
    """Donut-style: 1 - TED(prediction, reference) / TED(nothing, reference), every node counting one."""
    from zss import Node, simple_distance

    def tree(value, label="document"):
        node = Node(label)
        for key, child in value.items() if isinstance(value, dict) else []:
            for part in child if isinstance(child, list) else [child]:
                node.addkid(tree(part, key) if isinstance(part, dict) else Node(key).addkid(Node(f"={part}")))
        return node

    def size(node):
        return 1 + sum(map(size, node.children))

    sides = [[tree(document) for document in corpus[side]] for side in ("predictions", "references")]

    def run():
        scores = [
            max(0, 1 - simple_distance(prediction, reference) / (size(reference) - 1))
            for prediction, reference in zip(*sides, strict=True)
        ]
        return {"tree_edit_distance": sum(scores) / len(scores)}

    return run


def _spans(document):
    """(category, text) of the entities of tagged tokens."""
    entities = []
    for token, tag in zip(document["tokens"], document["tags"], strict=True):
        if tag.startswith("B-"):
            entities.append((tag[2:], token))
        elif tag.startswith("I-"):
            category, text = entities[-1]
            entities[-1] = (category, f"{text} {token}")
    return entities


def ie_eval(corpus):
    from ie_eval.scorer import MicroAverageErrorRate, MicroAverageFScore, OiEcerEwer, OiNerval

    pairs = [
        (_spans(reference), _spans(prediction))
        for reference, prediction in zip(corpus["references"], corpus["predictions"], strict=True)
    ]

    def run():
        ecer, ewer, nerval = MicroAverageErrorRate(), MicroAverageErrorRate(), MicroAverageFScore()
        for labels, predictions in pairs:
            ecer.update("total", OiEcerEwer(labels=labels, predictions=predictions, compute_ecer=True))
            ewer.update("total", OiEcerEwer(labels=labels, predictions=predictions, compute_ecer=False))
            nerval.update("total", OiNerval(labels=labels, predictions=predictions, nerval_threshold=30.0))
        return {
            "oiecer": ecer.error_rate["total"] / 100,
            "oiewer": ewer.error_rate["total"] / 100,
            "oinerval_f1": nerval.f1["total"] / 100,
        }

    return run


def nerval(corpus):
    from nerval.evaluate import evaluate
    from nerval.parse import parse_bio

    def parsed(document):
        return parse_bio([f"{token} {tag}" for token, tag in zip(document["tokens"], document["tags"], strict=True)])

    pairs = [
        (parsed(reference), parsed(prediction))
        for reference, prediction in zip(corpus["references"], corpus["predictions"], strict=True)
    ]

    def run():
        results = [evaluate(*pair, 0.3)["ALL"] for pair in pairs]
        matched, predicted, support = (
            sum(r[name] or 0 for r in results) for name in ("matched", "predicted", "Support")
        )
        return {"nerval_f1": 2 * matched / (predicted + support)}

    return run


def seqeval(corpus):
    from seqeval.metrics import f1_score

    references, predictions = ([document["tags"] for document in corpus[s]] for s in ("references", "predictions"))
    return lambda: {"seqeval_f1": float(f1_score(references, predictions))}


def nervaluate(corpus):
    from nervaluate import Evaluator

    references, predictions = ([document["tags"] for document in corpus[s]] for s in ("references", "predictions"))
    tags = sorted({tag[2:] for document in references for tag in document if tag != "O"})

    def run():
        results = Evaluator(references, predictions, tags=tags, loader="list").evaluate()
        return {"nervaluate_f1": results["overall"]["strict"].f1}

    return run


TOOLS = {
    "kieval": _module("kieval"),
    "entity_f1": _module("entity_f1"),
    "vrdu_f1": _module("vrdu_f1"),
    "oinerval": _module("oinerval"),
    "oinerval, order-dependent": _module("oinerval", order_dependent=True),
    "bag_of_entities": _module("bag_of_entities"),
    "plain KIEval": plain_kieval,
    "anls-star": anls_star,
    "stickler-eval": stickler,
    "zss": tree_edit_distance,
    "ie-eval": ie_eval,
    "teklia-nerval": nerval,
    "seqeval": seqeval,
    "nervaluate": nervaluate,
}
