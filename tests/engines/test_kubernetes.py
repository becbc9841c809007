"""The objects for Kubernetes have fields that exist, with values of the right kind.

kubernetes.json has the fields that the examples use, as the operators' own definitions have them (mpi-operator caa3c47,
spark-operator 38082f3); the examples were checked against all of these when it was made.
"""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path

import pytest
from conftest import EXAMPLES

from greedystep.comparison import command

yaml = pytest.importorskip("yaml", reason="objects for Kubernetes are NOT checked: PyYAML is not there")
jsonschema = pytest.importorskip("jsonschema", reason="objects for Kubernetes are NOT checked: jsonschema is not there")

FILES = sorted((EXAMPLES / "kubernetes").glob("*.yaml"))
SCHEMAS = json.loads(Path(__file__).with_name("kubernetes.json").read_text())


def check(thing) -> None:
    jsonschema.Draft202012Validator(SCHEMAS[thing["kind"]]).validate(thing)


def test_there_is_an_object_of_each_kind():
    assert {yaml.safe_load(path.read_text())["kind"] for path in FILES} == set(SCHEMAS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_object_has_the_fields_of_its_kind(path):
    thing = yaml.safe_load(path.read_text())
    check(thing)
    for place in ([], ["spec"], ["metadata"]):
        wrong = copy.deepcopy(thing)
        inner = wrong
        for name in place:
            inner = inner[name]
        inner["mistyped"] = 1
        with pytest.raises(jsonschema.ValidationError):
            check(wrong)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_first_line_says_that_it_was_not_run(path):
    assert path.read_text().startswith("# Not run on a cluster")


def test_the_commands_of_the_mpijob_run_in_one_process(files, tmp_path):
    spec = yaml.safe_load((EXAMPLES / "kubernetes" / "mpijob.yaml").read_text())["spec"]["mpiReplicaSpecs"]
    n_ranks = spec["Worker"]["replicas"]
    (script,) = spec["Launcher"]["template"]["spec"]["containers"][0]["args"]
    launcher = f"mpirun -n {n_ranks} --bind-to none greedystep"
    assert script.count(launcher) == script.count("greedystep") == 2
    script = script.replace(launcher, command()).replace("/data/", f"{tmp_path}/").replace("clicked", "came")
    (tmp_path / "rows").mkdir()
    for path in files:
        (tmp_path / "rows" / path.name).write_bytes(path.read_bytes())
    done = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "caches").glob("*.gsac"))) == len(files)
    assert (tmp_path / "clicks.model").stat().st_size > 0
