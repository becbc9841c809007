"""Files by address: the same models as by name, and failures that name them. Real stores: tests/real/stores.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import greedystep

pytest.importorskip("pyarrow")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    for part in range(2):
        rows = (f"{i % 2},{i * 37 % 101 / 4},town {i % 7}\n" for i in range(part * 500, part * 500 + 500))
        (tmp_path / f"part-{part}.csv").write_text("y,x,town\n" + "".join(rows))
    return tmp_path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_addresses_train_to_the_bytes_of_names(parts, ending):
    from pyarrow import csv, parquet

    for path in parts.glob("part-*.csv"):
        parquet.write_table(csv.read_csv(path), path.with_suffix(".parquet"))
    for name, data in (("by_name", f"{parts}/part-*.{ending}"), ("by_address", f"file://{parts}/part-*.{ending}")):
        greedystep.train(data, label="y").save(parts / name, state=False)
    assert (parts / "by_name").read_bytes() == (parts / "by_address").read_bytes()


def test_an_address_that_fails_is_named(parts):
    with pytest.raises(OSError, match=r"none\.csv"):
        greedystep.train(f"file://{parts}/none.csv", label="y")
    with pytest.raises(FileNotFoundError, match=r"no object matches .*none-\*.csv"):
        greedystep.train(f"file://{parts}/none-*.csv", label="y")
