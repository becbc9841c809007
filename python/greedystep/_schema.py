"""What the text of a schema says of columns (docs/formats/schema.md), for rows that come without names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

_OTHERS = {"words": "words", "date": "dates", "cross": "crosses", "columns namespaces": "words"}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


def _plain(name: str) -> str:
    """Return a name without its escapes."""
    parts = iter(name)
    return "".join(_ESCAPES.get(next(parts, ""), "") if one == "\\" else one for one in parts)


@dataclass
class Schema:
    """The columns of a table.

    Attributes
    ----------
    numbers : list of str
        Columns of numbers, in the order of their features.
    means : array of float32
        What a missing number of each counts as. That it is missing is the feature len(numbers) + its own.
    others : list of str
        Other features, if there are some: "words", "dates", "crosses".
    label, weight : str or None
    """

    numbers: list[str] = field(default_factory=list)
    means: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    others: list[str] = field(default_factory=list)
    label: str | None = None
    weight: str | None = None

    @classmethod
    def of(cls, text: str) -> Schema:
        """Return the columns of a text."""
        made, means = cls(), []
        for line in text.split("\n"):
            kind, _, rest = line.partition(" ")
            name, *items = rest.split("\t")
            other = _OTHERS.get(kind) or _OTHERS.get(line)
            if kind == "number":
                made.numbers.append(_plain(name))
                means.append(next((float(one[5:]) for one in items if one.startswith("mean=")), 0.0))
            elif other is not None and other not in made.others:
                made.others.append(other)
            elif kind == "label":
                made.label = _plain(name)
            elif kind == "weight":
                made.weight = _plain(name)
        made.means = np.array(means, np.float32)
        return made

    @property
    def feature_names(self) -> list[str]:
        """Names of the features of numbers, and of their being missing."""
        return self.numbers + [f"{name} is missing" for name in self.numbers]

    def check_numbers(self) -> None:
        """Raise ValueError unless the model was trained on nothing but numbers."""
        if self.others:
            raise ValueError(
                f"the model was trained on a table with {' and '.join(self.others)}: give it one, not an array"
            )

    def check_width(self, width: int) -> None:
        """Raise ValueError unless rows of so many numbers are what the model was trained on."""
        if width != len(self.numbers):
            raise ValueError(f"the rows have {width} numbers, and the model was trained on {len(self.numbers)} columns")
