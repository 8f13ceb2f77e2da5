"""Charts as inline SVG: no script, nothing to fetch, and the colours of the page in light and dark."""

import math

from .markup import escape

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 14, 44
TICKS = 5
DOTS_AT_MOST = 40


def line_chart(points, *, x_label, y_label, description, marked=None, level=None):
    """A line through (x, y) points in 0..1, with one point marked and a dashed line at a level of y.

    >>> line_chart([(0, 0.5), (1, 1)], x_label="threshold", y_label="F1", description="F1").count("<circle")
    2
    """
    low = _floor_of_axis([y for _, y in points] + ([level] if level is not None else []))
    high = max([1.0, *(y for _, y in points)])
    place = _Placement(low, high)
    parts = [*_grid(place), *_axis_labels(x_label, y_label)]
    if level is not None:
        y = place.y(level)
        parts.append(f'<line class="level" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="level-name" x="{LEFT + 4}" y="{y + 15}">target {level:g}</text>')
    line = " ".join(f"{place.x(x)},{place.y(y)}" for x, y in points)
    parts.append(f'<polyline points="{line}"/>')
    if len(points) <= DOTS_AT_MOST:
        parts += [_dot(place, x, y, f"{x_label} {x:.3g}, {y_label} {y:.3f}") for x, y in points]
    if marked:
        parts.append(_mark(place, *marked))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(description)}">'
        f"{''.join(parts)}</svg>"
    )


class _Placement:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def x(self, value):
        return round(LEFT + value * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value):
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _floor_of_axis(values):
    """0, or a higher number where everything lies above it: a line need not start at zero, its axis says where."""
    lowest = min(values, default=0.0)
    return next(floor for floor in (0.9, 0.8, 0.5, 0.0) if lowest >= floor or floor == 0.0)


def _grid(place):
    for step in range(TICKS):
        share = step / (TICKS - 1)
        x, value = place.x(share), place.low + share * (place.high - place.low)
        y = place.y(value)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text class="tick" text-anchor="end" x="{LEFT - 7}" y="{y + 4}">{_short(value)}</text>'
        yield f'<text class="tick" text-anchor="middle" x="{x}" y="{HEIGHT - BOTTOM + 17}">{_short(share)}</text>'


def _short(value):
    return f"{round(value, 3):g}" if math.isfinite(value) else ""


def _axis_labels(x_label, y_label):
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="axis" text-anchor="middle" x="{middle}" y="{HEIGHT - 6}">{escape(x_label)}</text>'
    height = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 12 {height})"'
    yield f'<text class="axis" text-anchor="middle" x="12" y="{height}" {turned}>{escape(y_label)}</text>'


def _dot(place, x, y, title):
    return f'<circle cx="{place.x(x)}" cy="{place.y(y)}" r="2.5"><title>{escape(title)}</title></circle>'


def _mark(place, x, y):
    """A ring that is seen without colour."""
    return f'<circle class="mark" cx="{place.x(x)}" cy="{place.y(y)}" r="7"/>'
