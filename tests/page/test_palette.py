"""The colours: legible in both schemes, one list for stylesheet and charts."""

import re

import pytest

from casebook.page.assets import asset
from casebook.page.palette import tokens

SCHEMES = {"light": 0, "dark": 1}
PAGES = ("page", "surface", "sunk")
TEXTS = ("text", "second", "quiet", "link", "critical", "warning", "info", "ok", "unknown")
ON_TINTS = [
    (text, tint)
    for tint in ("critical-tint", "warning-tint", "info-tint", "ok-tint", "unknown-tint")
    for text in ("text", "second", "quiet", "link", tint.removesuffix("-tint"))
]


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str, scheme: str) -> float:
    """Contrast of two tokens in a scheme."""
    dark, light = sorted(luminance(tokens()[token][SCHEMES[scheme]]) for token in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
class TestContrast:
    """WCAG 2: 4.5 for text, 3 for what carries meaning by its shape."""

    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("text", TEXTS)
    def test_text(self, scheme, text, page):
        """Every colour of text on every ground."""
        assert contrast(text, page, scheme) >= 4.5

    @pytest.mark.parametrize(("text", "tint"), ON_TINTS)
    def test_text_on_tints(self, scheme, text, tint):
        """What stands in a verdict or an alarm row."""
        assert contrast(text, tint, scheme) >= 4.5

    @pytest.mark.parametrize("mark", ["bar", "bar-other", "live", "dead"])
    def test_letters_on_marks(self, scheme, mark):
        """Numbers in bars, and L and ✕ in glyphs; the bold ✕ is a shape."""
        assert contrast("on-mark", mark, scheme) >= (3 if mark == "dead" else 4.5)

    @pytest.mark.parametrize(
        "shape", ["critical-fill", "info-fill", "ok-fill", "unknown", "edge", "bar", "bar-other", "live", "dead", "warning"]
    )
    def test_shapes(self, scheme, shape):
        """Fills and edges against the page; the warning's fill is carried by its rim, the colour of its text."""
        assert contrast(shape, "page", scheme) >= 3


class TestOneList:
    """Nothing is coloured past the tokens."""

    def test_every_colour_used_is_a_token(self):
        """A misspelt variable would fall back to nothing."""
        css = asset("tokens.css") + asset("casebook.css") + asset("report.css")
        used = set(re.findall(r"var\(--cb-([a-z-]+)\)", css)) - {"sans", "mono"}
        assert used <= set(tokens())

    def test_every_token_is_read(self):
        """The list that charts are drawn from is the whole list."""
        assert set(tokens()) == set(re.findall(r"--cb-([a-z-]+):", asset("tokens.css")))

    def test_no_other_colour(self):
        """Only the white of a symbol's mark is written out: it stands on fills that are alike in both schemes."""
        assert set(re.findall(r"#[0-9A-Fa-f]{3,8}\b", asset("casebook.css") + asset("report.css"))) == {"#FFFFFF"}

    def test_nothing_is_loaded(self):
        """No font, image or sheet from anywhere."""
        files = "".join(map(asset, ("tokens.css", "casebook.css", "report.css", "casebook.js", "index.js")))
        assert not re.search(r"https?:|@import|url\(|//[a-z]+\.", files)
