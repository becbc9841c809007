"""Tables in object stores: the same models as from local files, and errors that name the object.

usage: stores.py GREEDYSTEP [LIBRARY]     needs moto[server], boto3, and DuckDB with its extension httpfs

A real S3 server (moto, with accounts) runs here, and a proxy before it that closes the socket half-way through objects
whose name has "dropped" in it. Exit code 77: something that this needs is not there.
"""

import glob
import http.server
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

COMMAND = os.path.abspath(sys.argv[1])
LIBRARY = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
DROPPED_AFTER = 1500  # bytes of an answer, of which its head has some 500
PACKAGE = Path(__file__).resolve().parents[2] / "python"


def skip(reason):
    print(f"SKIPPED: {reason}: object stores are NOT tested")
    sys.exit(77)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start_server():
    """Start moto; its first three calls need no account, the others need one that may use S3."""
    port = free_port()
    env = dict(os.environ, INITIAL_NO_AUTH_ACTION_COUNT="3")
    words = [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.1)
    server.kill()
    skip("moto does not start")


def drop_half_way(to_port):
    """Start a proxy that closes the connection in the middle of an answer about a name with "dropped" in it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, target, seen, is_answer):
        n_bytes = 0
        try:
            while data := source.recv(1 << 16):
                if not is_answer:
                    seen.append(data)
                is_dropped = is_answer and any(b"GET /" in one and b"dropped" in one for one in seen)
                target.sendall(data[: DROPPED_AFTER - n_bytes] if is_dropped else data)
                n_bytes += len(data)
                if is_dropped and n_bytes > DROPPED_AFTER:
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept():
        while True:
            client = listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", to_port))
            seen = []
            threading.Thread(target=pump, args=(client, server, seen, False), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, seen, True), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def make_tables(folder):
    """Write the same rows as CSV, compressed CSV, libsvm text and, by DuckDB, Parquet."""
    for part in range(2):
        rows = range(part * 5000, part * 5000 + 5000)
        cells = [(i * 37 % 2, i * 37 % 101 / 4, f"town {i % 7}") for i in rows]
        text = "".join(f"{y},{x},{town}\n" for y, x, town in cells)
        (folder / f"part-{part}.csv").write_text("clicked,x,town\n" + text)
        (folder / f"part-{part}.svm").write_text("".join(f"{y} 1:{x} {2 + int(town[5:])}:1\n" for y, x, town in cells))
        subprocess.run(["gzip", "-kn", folder / f"part-{part}.csv"], check=True)
        query = f"COPY (FROM read_csv('{folder}/part-{part}.csv')) TO '{folder}/part-{part}.parquet' (FORMAT parquet)"
        run(["convert", "--sql", query, "--label", "1", "-o", folder / "count.svm"])
    for ending in ("csv", "parquet"):
        shutil.copy(folder / f"part-1.{ending}", folder / f"dropped.{ending}")


def run(words, **env):
    """Return exit code and what was said."""
    words = [COMMAND, *map(str, words), "--quiet"]
    done = subprocess.run(words, env={**os.environ, **env}, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def train(data, model, **env):
    return run(["train", *data, *(["--label", "clicked"] if ".svm" not in data[0] else []), "-o", model], **env)


def check_same(folder, bucket):
    for ending in ("csv", "csv.gz", "svm", "parquet"):
        local = sorted(glob.glob(f"{folder}/part-*.{ending}"))
        for name, data in (("local", local), ("remote", [f"{bucket}/part-*.{ending}"])):
            code, said = train(data, folder / name)
            assert code == 0, said
        assert (folder / "local").read_bytes() == (folder / "remote").read_bytes(), ending
        print(f"the model of s3:// objects is that of local files: {ending}")


def check_errors(folder, bucket):
    cases = [
        ("no such object", f"{bucket}/none.csv", {}, "none.csv"),
        ("no such Parquet object", f"{bucket}/none.parquet", {}, "none.parquet"),
        ("a pattern without objects", f"{bucket}/none-*.csv", {}, "none-*.csv"),
        ("no such bucket", "s3://nowhere/part-0.csv", {}, "nowhere"),
        ("a wrong secret", f"{bucket}/part-0.csv", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "AWS_SECRET_ACCESS_KEY"),
        ("a dropped connection", f"{bucket}/dropped.csv", {}, "dropped.csv"),
        ("a dropped connection in Parquet", f"{bucket}/dropped.parquet", {}, "dropped.parquet"),
    ]
    for what, path, env, expected in cases:
        code, said = train([path], folder / "failed", **env)
        assert code == 1 and expected in said and said.count("\n") == 1, f"{what}: {code} {said}"
        assert not (folder / "failed").exists(), what
        print(f"{what} is an error that names it: {said.strip()}")


def check_python(folder, bucket):
    if LIBRARY is None or importlib.util.find_spec("pyarrow") is None or importlib.util.find_spec("numpy") is None:
        print("not tested: the Python package, for want of pyarrow")
        return
    os.environ["GREEDYSTEP_LIBRARY"] = LIBRARY
    sys.path.insert(0, str(PACKAGE))
    import greedystep

    for ending in ("csv", "parquet"):
        for name, data in (("local", f"{folder}/part-*.{ending}"), ("remote", f"{bucket}/part-*.{ending}")):
            greedystep.train(data, label="clicked").save(folder / name, state=False)
        assert (folder / "local").read_bytes() == (folder / "remote").read_bytes(), ending
        print(f"in Python the model of s3:// objects is that of local files: {ending}")
    for name in ("none.csv", "none.parquet", "dropped.csv", "dropped.parquet"):
        try:
            greedystep.train(f"{bucket}/{name}", label="clicked")
            raise AssertionError(f"{name} was read")
        except OSError as failure:
            assert name in str(failure), str(failure)
            print(f"in Python an error names the object: {failure}")


class Ranges(http.server.SimpleHTTPRequestHandler):
    """A web server that gives parts of files, as object stores do."""

    def do_GET(self):
        body = Path(self.translate_path(self.path)).read_bytes()
        wanted = self.headers.get("Range")
        if wanted:
            begin, end = wanted.removeprefix("bytes=").split("-")
            part = body[int(begin) : int(end) + 1 if end else None]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{int(begin) + len(part) - 1}/{len(body)}")
        else:
            part = body
            self.send_response(200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_):
        pass


def check_web(folder):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *of, **options: Ranges(*of, directory=str(folder), **options)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for ending in ("csv", "parquet"):
        for name, place in (("local", str(folder)), ("remote", f"http://127.0.0.1:{server.server_port}")):
            code, said = train([f"{place}/part-0.{ending}"], folder / name)
            assert code == 0, said
        assert (folder / "local").read_bytes() == (folder / "remote").read_bytes(), ending
        print(f"the model of http:// files is that of local files: {ending}")


def install_httpfs(folder):
    """Let DuckDB load httpfs from its Python package, where it cannot download it."""
    found = importlib.util.find_spec("duckdb_extension_httpfs")
    for file in Path(found.origin).parent.glob("extensions/*/httpfs.duckdb_extension") if found else ():
        run(["convert", "--sql", f"INSTALL '{file}'", "--label", "1", "-o", folder / "installed.svm"])
    code, said = run(["convert", "--sql", "SELECT 1 AS y, 2 AS x FROM (SELECT '://')", "-o", folder / "one.svm"])
    if code != 0:
        skip(said.strip())


def main():
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        skip("moto[server] is not installed")
    import boto3

    folder = Path(tempfile.mkdtemp())
    os.environ["HOME"] = str(folder)  # DuckDB keeps extensions there
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    server = None
    try:
        install_httpfs(folder)
        make_tables(folder)
        server, port = start_server()
        os.environ.update(AWS_ACCESS_KEY_ID="first", AWS_SECRET_ACCESS_KEY="first", AWS_REGION="us-east-1")
        os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
        os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"
        accounts = boto3.client("iam")
        accounts.create_user(UserName="someone")
        key = accounts.create_access_key(UserName="someone")["AccessKey"]
        may = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'
        accounts.put_user_policy(UserName="someone", PolicyName="all", PolicyDocument=may)
        os.environ.update(AWS_ACCESS_KEY_ID=key["AccessKeyId"], AWS_SECRET_ACCESS_KEY=key["SecretAccessKey"])
        store = boto3.Session().client("s3")
        store.create_bucket(Bucket="tables")
        for file in [*folder.glob("part-*"), *folder.glob("dropped.*")]:
            store.upload_file(str(file), "tables", file.name)
        os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{drop_half_way(port)}"
        check_same(folder, "s3://tables")
        check_errors(folder, "s3://tables")
        check_web(folder)
        check_python(folder, "s3://tables")
    finally:
        if server is not None:
            server.kill()
        shutil.rmtree(folder)


main()
