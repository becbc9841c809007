"""The columns that a model knows: the text of a schema (docs/formats/csv.md), or the names of a frame of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ._core import CModel

# Names that a model keeps at most.
_MAX_NAMES = 65536

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
_OTHERS = {
    "words": "words",
    "text": "texts",
    "date": "dates",
    "per": "words",
    "cross": "crosses",
    "columns namespaces": "words",
}
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
    numbers, numeric : list of str
        Columns of numbers, and columns of numbers and dates, in the order of their features.
    sentinels : array of float64, [values x numeric]
        Numbers that mean a missing value, such as -999; NaN: none.
    means : array of float32
        The value that a missing number or date counts as. The feature that marks it is len(numeric) + its own number.
    offsets : array of float64
        The number that each is measured from: it is subtracted before values are rounded to float32.
    others : list of str
        Other features, if there are some: "words", "texts", "dates", "crosses".
    words, texts, dates : list of str
        Columns of categories and texts; of texts; and of dates.
    crosses : list of str
        Products of two columns, as "A:B".
    ignored : list of str
    features : list of str
        All columns of features: numbers, categories and dates, in the order of the table.
    bits : int
        Categories are hashed to 2^bits features.
    label, weight, group, time, offset, per : str or None
        The column of labels and so on; that of times may be one of features, or ignored,
        that of offsets is one of numbers, and that of customers one of words.
    """

    numbers: list[str] = field(default_factory=list)
    means: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    offsets: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    sentinels: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    others: list[str] = field(default_factory=list)
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    offset: str | None = None
    per: str | None = None
    numeric: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    crosses: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    bits: int = 0

    @classmethod
    def of(cls, text: str) -> Schema:
        """Return the columns of a text."""
        made, means, offsets, sentinels = cls(), [], [], []
        columns = {
            "number": made.numbers,
            "offset": made.numbers,
            "words": made.words,
            "text": made.words,
            "per": made.words,
            "date": made.dates,
        }
        for line in text.split("\n"):
            kind, _, rest = line.partition(" ")
            name, *items = rest.split("\t")
            other = _OTHERS.get(kind) or _OTHERS.get(line)
            if other is not None and other not in made.others:
                made.others.append(other)
            if kind in columns:
                columns[kind].append(_plain(name))
                made.features.append(_plain(name))
            if kind == "text":
                made.texts.append(_plain(name))
            if kind == "per":
                made.per = _plain(name)
            if kind == "offset":
                made.offset = _plain(name)
            if kind in ("number", "date", "offset"):
                made.numeric.append(_plain(name))
                values = dict(one.partition("=")[::2] for one in items)
                means.append(float(values.get("mean", 0)))
                offsets.append(float(values.get("offset", 0)))
                missing = [one[8:] for one in items if one.startswith("missing=")]
                sentinels.append([float(one) for one in missing if _NUMBER.fullmatch(one)])
            elif kind == "ignored":
                made.ignored.append(_plain(name))
            elif kind == "bits":
                made.bits = int(rest)
            elif kind == "cross":
                made.crosses.append(":".join(map(_plain, (name, *items))))
            elif kind in ("label", "weight", "group"):
                setattr(made, kind, _plain(name))
            if any(one.startswith("moment=") for one in items):
                made.time = _plain(name)
        made.means, made.offsets = np.array(means, np.float32), np.array(offsets, np.float64)
        made.sentinels = np.full((max(map(len, sentinels), default=0), len(means)), np.nan)
        for number, found in enumerate(sentinels):
            made.sentinels[: len(found), number] = found
        return made

    @property
    def feature_names(self) -> list[str]:
        """Names of the features of numbers and of their markers for missing values."""
        return self.numbers + [f"{name} is missing" for name in self.numbers]

    def check_numbers(self) -> None:
        """Raise ValueError unless the model was trained on numbers only."""
        if self.others:
            raise ValueError(
                f"the model was trained on a table with {' and '.join(self.others)}: give it one, not an array"
            )

    def check_sparse(self) -> None:
        """Raise ValueError if columns are measured from offsets, since an absent number is 0 in sparse rows."""
        for at in np.flatnonzero(self.offsets):
            raise ValueError(
                f"the model measures column {self.numeric[at]!r} from {self.offsets[at]:g}, and absent numbers of a "
                "sparse matrix are 0: give dense rows"
            )

    def check_width(self, width: int) -> None:
        """Raise ValueError unless the model was trained on rows of so many numbers."""
        if self.offset is not None and width == len(self.numbers) - 1:
            raise ValueError("the model was trained with an offset: give that of the rows (offset=...)")
        if width != len(self.numbers):
            raise ValueError(f"the rows have {width} numbers, and the model was trained on {len(self.numbers)} columns")


@dataclass(frozen=True)
class Names:
    """The columns of a frame of numbers that a model without a schema was trained on.

    Attributes
    ----------
    names : list of str or None
        Names of the features in their order; None of one that is not kept.
    are_all : bool
        False: from a file, which does not have the names of columns that were 0 in every row.
    """

    names: Sequence[str | None]
    are_all: bool

    @classmethod
    def of_columns(cls, columns: Sequence[str]) -> Names | None:
        """Return the names of columns; None: they are not distinct."""
        return cls(list(columns), True) if columns and len({*columns, ""}) == len(columns) + 1 else None

    @classmethod
    def of_model(cls, model: CModel) -> Names | None:
        """Return the names that a model keeps; None if a feature with a weight has no name."""
        if model.schema is not None or not 0 < model.info.n_features <= _MAX_NAMES:
            return None
        names = []
        for feature, has_weight in enumerate(np.asarray(model.weights().any(axis=1))):
            names.append(model.name(feature))
            if has_weight and names[-1] is None:
                return None
        known = [name for name in names if name is not None]
        return cls(names, False) if known and len(set(known)) == len(known) else None

    def ordered(self, columns: Sequence[str]) -> list[str]:
        """Return columns in the order of the features; raise ValueError unless they are those of the model.

        Columns that a file cannot name have no weight: they take the places that are left.
        """
        known, found = set(self.names), set(columns)
        if len(found) < len(columns):
            raise ValueError("two columns of the frame have one name: rename one of them")
        others = [name for name in columns if name not in known]
        missing = [name for name in self.names if name is not None and name not in found]
        if missing:
            raise ValueError(f"the frame has no column {missing[0]!r}, which the model has")
        if others and self.are_all:
            raise ValueError(
                f"the frame has a column {others[0]!r} that the model does not have; ignore it (ignore=...)"
            )
        if len(columns) < len(self.names):
            raise ValueError(f"the frame has {len(columns)} columns, and the model was trained on {len(self.names)}")
        rest = iter(others)
        return [next(rest) if name is None else name for name in self.names] + list(rest)
