"""Positions of marks and labels without overlap. The script does the same on every zoom (``casebook.js``)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from casebook.page.lanes import Label, Mark, clipped


def spread(marks: Sequence[Mark], span: tuple[float, float], width: float, *, apart: float) -> Iterator[tuple[Mark, float]]:
    """Yield marks with their positions in pixels, side by side instead of overlapping; the script does so on each zoom.

    Args:
        width: Width of the figure, pixels.
        apart: Minimum distance, pixels.
    """
    scale = width / (span[1] - span[0])
    heaps: list[list[tuple[Mark, float]]] = []
    for mark in sorted(marks, key=lambda m: (m.at, m.number)):
        at = (mark.at - span[0]) * scale
        heaps.append([(mark, at)])
        while len(heaps) > 1 and _begin(heaps[-1], apart) < _end(heaps[-2], apart):
            last = heaps.pop()
            heaps[-1] += last
    wanted = [_begin(heap, apart) + (number + 0.5) * apart for heap in heaps for number in range(len(heap))]
    yield from zip((mark for heap in heaps for mark, _ in heap), _inside(wanted, width, apart), strict=True)


def _inside(places: list[float], width: float, apart: float) -> list[float]:
    """Return the positions within the figure, and still apart."""
    low = apart / 2
    for number, place in enumerate(places):
        places[number] = low = max(place, low)
        low += apart
    high = width - apart / 2
    for number, place in reversed(list(enumerate(places))):
        places[number] = high = min(place, high)
        high -= apart
    return places


def _begin(heap: Sequence[tuple[Mark, float]], apart: float) -> float:
    """Return the left edge of marks that are side by side around their mean."""
    return sum(at for _, at in heap) / len(heap) - len(heap) * apart / 2


def _end(heap: Sequence[tuple[Mark, float]], apart: float) -> float:
    return _begin(heap, apart) + len(heap) * apart


def fitted(labels: Sequence[Label], span: tuple[float, float], width: float) -> Iterator[tuple[Label, float]]:
    """Yield fitting labels with their left edge in pixels; earlier ones first, each on its own side if free.

    A pinned one without a replacement is always shown, cut at the figure's edge.

    The script does the same on zoom: ``fit`` in ``casebook.js``.
    """
    scale = width / (span[1] - span[0])
    taken: list[tuple[float, float]] = []
    seated = False
    for label, following in pairwise([*labels, None]):
        if label.instead and seated:
            continue
        seated = False
        shown = (0.0, width) if label.pinned else _pixels(label, span, scale)
        sure = label.loose or (label.pinned and not (following and following.instead))
        if shown is None or (not sure and shown[1] - shown[0] < label.width):
            continue
        places = [_left(label, shown, side) for side in dict.fromkeys((label.side, "right", "left"))]
        if label.loose:
            places = [min(max(0.0, places[0]), width - label.width)]
        left = next((place for place in places if _free(taken, place, place + label.width)), None)
        if left is not None:
            seated = True
            taken.append((left, left + label.width))
            yield label, left + 3


def _free(taken: Sequence[tuple[float, float]], begin: float, end: float) -> bool:
    return all(end <= left or right <= begin for left, right in taken)


def _pixels(label: Label, span: tuple[float, float], scale: float) -> tuple[float, float] | None:
    shown = clipped(label.start, label.end, span)
    return None if shown is None else ((shown[0] - span[0]) * scale, (shown[1] - span[0]) * scale)


def _left(label: Label, shown: tuple[float, float], side: str) -> float:
    begin, end = shown
    return {"left": begin, "center": (begin + end - label.width) / 2, "right": end - label.width}[side]
