"""Results as text tables: scores as rows, systems as columns."""

NESTED = ("per_type", "per_group_type", "per_document", "intervals", "curve", "operating_point")
NESTED += ("document_ids", "best_documents", "worst_documents")


def score_table(results):
    """A table of the headline scores of several systems.

    >>> print(score_table({"a": {"f1": 0.5, "documents": 2}, "b": {"f1": 1.0, "documents": 2}}))
               a      b
    f1         0.500  1.000
    documents  2      2
    """
    names = list(dict.fromkeys(name for result in results.values() for name in result if name not in NESTED))
    rows = [[name, *(_cell(result, name) for result in results.values())] for name in names]
    return format_table(["", *results], rows)


def type_table(results, score, family="per_type"):
    """A table of one score for each type."""
    types = sorted({name for result in results.values() for name in result[family]})
    rows = [[name, *(format_number(result[family].get(name, {}).get(score)) for result in results.values())]
            for name in types]  # fmt: skip
    return format_table([score, *results], rows)


def format_table(header, rows):
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [header, *rows]]
    return "\n".join(line.rstrip() for line in lines)


def _cell(result, name):
    low_and_high = result.get("intervals", {}).get(name)
    interval = f" [{low_and_high[0]:.3f}, {low_and_high[1]:.3f}]" if low_and_high else ""
    return format_number(result.get(name)) + interval


def format_number(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
