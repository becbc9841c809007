"""Figures as SVG inside a page: text stays text in the page's font, colours follow its scheme, ids are
unique, and nothing refers to other files."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from . import plot_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that the page has a light and a dark variant of.
VARIABLES = {
    plot_style.INK: "--ink",
    plot_style.MUTED: "--muted",
    plot_style.GRID: "--grid",
    plot_style.PAPER: "--card",
    plot_style.BLUE: "--blue",
    plot_style.ORANGE: "--orange",
    plot_style.GREEN: "--green",
    plot_style.GREY: "--grey",
}

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "greedystep",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "legend.fontsize": 9,
    "text.color": plot_style.INK,
    "axes.labelcolor": plot_style.MUTED,
    "axes.edgecolor": plot_style.GREY,
    "xtick.color": plot_style.MUTED,
    "ytick.color": plot_style.MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}


def _own_names(svg: str, prefix: str) -> str:
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", svg)
    return re.sub(r'\b(?:xlink:)?href="#([^"]+)"', rf'href="#{prefix}\1"', svg)


def _with_variables(style: str) -> str:
    for color, variable in VARIABLES.items():
        style = style.replace(color, f"var({variable})")
    return style


def _inline(svg: str, prefix: str, title: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    size = re.search(r'viewBox="([^"]+)"', svg)
    box = size.group(1) if size else "0 0 345 250"
    opening = f'<svg viewBox="{box}" role="img" aria-label="{escape(title, quote=True)}">'
    svg = re.sub(r"<svg[^>]*>", lambda _match: opening, svg, count=1)
    svg = re.sub(r'style="[^"]*"', lambda style: _with_variables(style.group()), svg)
    svg = re.sub(r"(font(?:-family)?: (?:(?:\d+|bold|normal) )*(?:[\d.]+px )?)'[^;\"]*", r"\1var(--font)", svg)
    return _own_names(svg, prefix).strip()


def draw_svg(draw: Callable[[Axes], Any], number: int, title: str, width: float = 4.8, height: float = 3.3) -> str:
    """Return the figure that ``draw`` draws into axes of so many inches, as an element for the page."""
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # glyphs that our font lacks: the page's may have them
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return _inline(buffer.getvalue(), f"p{number}-", title)
