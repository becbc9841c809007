"""FastAPI: a model behind HTTP, which is replaced when its file is, as `greedystep train --publish` does.

Run it as a server by `uvicorn fastapi_server:app`; alone it asks itself."""

import os
import sys
import tempfile
from pathlib import Path

import greedystep

try:
    from fastapi import FastAPI, HTTPException
    from fastapi.testclient import TestClient
except (ImportError, RuntimeError) as missing:
    sys.exit(print(f"SKIPPED: {missing}"))

path = Path(os.environ.get("MODEL", Path(tempfile.gettempdir()) / "visits.model"))
app = FastAPI()


class Served:
    """The model in use. Threads take the one that is there; it is freed when the last of them has answered."""

    model, version = None, None

    def latest(self):
        facts = path.stat()
        if (facts.st_ino, facts.st_mtime_ns) != self.version:
            self.model, self.version = greedystep.load(path), (facts.st_ino, facts.st_mtime_ns)
        return self.model


served = Served()


@app.post("/predict")
def predict(row: dict[str, float | str | None]):
    model = served.latest()
    try:
        return dict(zip(model.classes.tolist(), model.predict_proba_one(row)))
    except ValueError as error:  # a column is missing, or a cell is not what the model was trained with
        raise HTTPException(422, str(error)) from error


def main():
    rows = Path(__file__).resolve().parents[1] / "data" / "visits.csv"
    row = {"country": "pe", "device": "desktop", "pages": 9, "minutes": 6.4}
    client = TestClient(app)
    greedystep.train(rows, label="bought").save(path)
    print("of four columns: ", client.post("/predict", json=row).json())
    greedystep.train(rows, label="bought", ignore=["device"]).save(path)  # the server goes on
    print("of three columns:", client.post("/predict", json=row).json())
    print(client.post("/predict", json={**row, "pages": "many"}).json()["detail"])


if __name__ == "__main__":
    main()
