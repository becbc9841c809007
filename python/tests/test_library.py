"""Structs, constants and parameters of the package are those of the headers and of the library."""

from __future__ import annotations

import ctypes
import inspect
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor
from greedystep import _library as c
from greedystep._core import parameters

INCLUDE = Path(__file__).parents[2] / "include"
STRUCTS = {
    "gsa_error": c.Error,
    "gsa_budget": c.Budget,
    "gsa_cell": c.Cell,
    "gsa_memory": c.Memory,
    "gsa_call": c.Call,
    "gsa_batch": c.Batch,
    "gsa_param": c.Param,
    "gsa_summary": c.Summary,
    "gsa_model_info": c.ModelInfo,
    "gsa_file_source": c.FileSource,
    "gsa_reader_options": c.ReaderOptions,
    "gsa_reader_progress": c.ReaderProgress,
    "gsa_metric": c.Metric,
    "gsa_row_source": c.RowSource,
    "gsa_arrow_again": c.ArrowAgain,
    "struct ArrowSchema": c.ArrowSchema,
    "struct ArrowArray": c.ArrowArray,
    "struct ArrowArrayStream": c.ArrowArrayStream,
    "gsa_train_hooks": c.TrainHooks,
}
CONSTANTS = ["NO_ROW", "MAX_ID", "BLOCK_ROWS", "FIRST_ROWS", "FIRST_ENTRIES", "FIRST_SHARD"]


def numbers_of_header(folder: Path) -> list[int]:
    """Compile a program that prints constants, sizes and offsets, and return them."""
    lines = [f"(size_t)GSA_{name}" for name in CONSTANTS]
    for name, struct in STRUCTS.items():
        lines.append(f"sizeof({name})")
        lines += [f"offsetof({name}, {field[0].rstrip('_')})" for field in struct._fields_]
    prints = "\n".join(f'printf("%zu\\n", {line});' for line in lines)
    source = folder / "sizes.c"
    source.write_text(
        "#include <greedystep/arrow.h>\n#include <greedystep/distributed.h>\n#include <greedystep/train.h>\n"
        "#include <stdio.h>\n"
        f"int main(void) {{\n{prints}\nreturn 0;\n}}\n"
    )
    compiler = os.environ.get("CC", "cc")
    program = folder / "sizes"
    subprocess.run([compiler, f"-I{INCLUDE}", source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(not INCLUDE.exists(), reason="the headers are not here")
@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc")), reason="no compiler")
def test_structs_and_constants_are_those_of_the_headers(tmp_path):
    ours = [getattr(c, name) for name in CONSTANTS]
    for struct in STRUCTS.values():
        ours.append(ctypes.sizeof(struct))
        ours += [getattr(struct, field[0]).offset for field in struct._fields_]
    assert ours == numbers_of_header(tmp_path)


@pytest.mark.parametrize("kind", [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC])
def test_estimators_have_every_parameter_of_the_library(kind):
    """Signatures, which scikit-learn wants, repeat names of the table; a loss is the kind's; shards are hidden."""
    names = {parameter.name.decode() for parameter in parameters() if parameter.help} - {"loss"}
    names -= {"class_weight"} if kind is GreedystepRegressor else {"quantile"}
    renamed = {"seed": "random_state", "intercept": "fit_intercept"}
    assert {renamed.get(name, name) for name in names} <= set(inspect.signature(kind).parameters)


def test_every_function_that_is_named_is_there():
    library = c.library()
    for name in c._PROTOTYPES:
        assert getattr(library, name).argtypes is not None


def test_the_number_of_the_system_library_is_that_of_the_build():
    build = INCLUDE.parent / "src" / "CMakeLists.txt"
    assert f"set(soversion {c.SYSTEM_NAME.rsplit('.', 1)[1]})" in build.read_text()


def test_without_a_library_of_its_own_the_system_is_asked(monkeypatch):
    monkeypatch.delenv("GREEDYSTEP_LIBRARY", raising=False)
    monkeypatch.setattr(c, "__file__", "/nowhere/_library.py")
    assert c._name() == c.SYSTEM_NAME
    monkeypatch.setattr(c, "SYSTEM_NAME", "libof-nobody.so.0")
    with pytest.raises(ImportError, match=r"libgreedystep is missing: libof-nobody\.so\.0"):
        c.library.__wrapped__()
