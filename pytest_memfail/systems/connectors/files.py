"""Kind `files`: the memory is a folder of texts, written by a program or as one Markdown file per conversation."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from pytest_memfail.core import Conversation, MemorySystemError, SystemContext, copy_folder, counted, one_line
from pytest_memfail.systems.base import Entry
from pytest_memfail.systems.connectors.config import Command, MemoryFile
from pytest_memfail.systems.connectors.memory_tool import ROOT, MemoryFolder, schemas
from pytest_memfail.systems.connectors.processes import run_once
from pytest_memfail.systems.connectors.templates import PLACES, filled, places, plain_conversation, proxied
from pytest_memfail.systems.word_index import LazyIndex


def _glob(value: str) -> str:
    try:
        next(Path(__file__).glob(value), None)  # a file has no files: only the pattern is read
    except (ValueError, IndexError, NotImplementedError) as error:
        raise ValueError(f"a pattern of files, such as **/*.md ({one_line(error, 80)})") from None
    return value


class FilesMemory(MemoryFile):
    """A folder of text or Markdown."""

    variables = {"write": PLACES}
    settings = ("mode", "model")
    programs = ("write",)

    kind: Literal["files"]
    write: Annotated[
        Command | None,
        Field(
            description="A program that gets each conversation as JSON on stdin and keeps the files of {folder}; "
            "without it each conversation becomes a Markdown file"
        ),
    ] = None
    glob: Annotated[
        str,
        Field(min_length=1, pattern=r"^[^/\x00][^\x00]*$", description="Which files are the memory"),
        AfterValidator(_glob),
    ] = "**/*.md"
    entry: Annotated[Literal["file", "paragraph", "line"], Field(description="What one memory is")] = "paragraph"
    retrieve: Annotated[
        Literal["search", "first"],
        Field(description="search: the best entries for the words of the question (BM25); first: the first lines"),
    ] = "search"
    lines: Annotated[int, Field(ge=1, description="How many lines `retrieve: first` loads")] = 200

    @property
    def may_call_model(self) -> bool:
        """Whether a program writes, which may cost money."""
        return self.calls_model and self.write is not None

    async def opened(self, context: SystemContext) -> FilesSystem:
        """Return an empty folder."""
        return FilesSystem(context, self)


SPLIT: Final = {"file": None, "paragraph": r"\n[ \t]*\n", "line": r"\n"}


class FilesSystem:
    """A folder of files; an entry is a file, a paragraph or a line."""

    concurrent_writes = 1
    isolation_advice = "let the program `write` keep everything below {folder}"
    refusal_advice = "let the program `write` end with another exit code than 0"

    def __init__(self, context: SystemContext, config: FilesMemory) -> None:
        """Create an empty folder below that of the store."""
        self._context, self._config = context, config
        self._folder = context.path / "memory"
        self._folder.mkdir(exist_ok=True)
        self.unlimited_k = config.retrieve == "first"
        self._index = LazyIndex(lambda: (Entry(entry["id"], entry["text"], None) for entry in self._entries()))

    async def store_conversation(self, conversation: Conversation) -> str:
        """Run the `write` program and return what it prints, or write a file.

        Raises `MemorySystemError` if the program fails.
        """
        self._index.drop()
        if self._config.write is not None:
            values = {**places(self._context), "folder": str(self._folder)}
            command = [str(word) for word in filled(self._config.write, values)]
            given = json.dumps(plain_conversation(conversation)).encode()
            what = f"the command {' '.join(self._config.write)!r}"
            place, limit = self._config.file.parent, self._config.timeout
            return await run_once(what, command, place, given, limit, proxied(self._context))
        number = sum(1 for _ in self._folder.iterdir()) + 1
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", conversation.id)[:80].strip(".-") or "conversation"
        text = self._context.render(conversation).replace("\n", "\n\n") + "\n"
        (self._folder / f"{number:05}-{name}.md").write_bytes(text.encode("utf-8", "replace"))
        return ""

    async def retrieve_memories(self, query: str, conversation: Conversation, k: int) -> list[dict[str, Any]]:
        """Return the first lines, or the k entries with the best BM25 score for any word of the query."""
        if self._config.retrieve == "first":
            return list(self._entries(self._config.lines))
        return self._index.best(query, k)

    async def get_all_memories(self) -> list[dict[str, Any]]:
        """Return every entry."""
        return list(self._entries())

    @property
    def empty_listing(self) -> str:
        """What to do about a listing without entries."""
        files = {file for file in self._folder.rglob("*") if file.is_file()}
        unread = sorted(files - set(self._folder.glob(self._config.glob)))
        if not unread:
            return "let the program `write` keep text in files of {folder}"
        name = one_line(repr(unread[0].relative_to(self._folder).as_posix()), 60)
        return (
            f"`glob` is {self._config.glob!r} and leaves out {counted(len(unread), 'file')}, such as {name}; correct it"
        )

    async def snapshot(self, path: Path) -> None:
        """Copy the folder, and nothing that its links lead to outside of it."""
        copy_folder(self._folder, path / "memory")

    async def restore(self, path: Path) -> None:
        """Replace the folder. Raise `FileNotFoundError` if there is no snapshot."""
        self._index.drop()
        shutil.rmtree(self._folder)
        copy_folder(path / "memory", self._folder)

    async def close(self) -> None:
        """Close the index; repeated calls are allowed."""
        self._index.drop()

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The commands of the memory tool in the format of chat completions."""
        return schemas()

    async def use(self, name: str, arguments: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Execute a command for a model; file contents that it views are memories.

        Raises `ToolFailedError` for a command that cannot be executed.
        """
        self._index.drop()
        reply = MemoryFolder(self._folder).call(name, arguments)
        is_file = name == "view" and (self._folder / str(arguments["path"])[len(ROOT) :].lstrip("/")).is_file()
        shown = re.split(SPLIT[self._config.entry] or r"\Z", re.sub(r"(?m)^\d+\t", "", reply)) if is_file else []
        return reply, [{"text": text} for text in shown if text.strip()]

    def describe(self) -> Mapping[str, str]:
        """Return the description for the record."""
        return self._config.described(kind="files", retrieve=self._config.retrieve, entry=self._config.entry)

    def _entries(self, lines: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the entries in the order of the file names; with `lines`, only those in the first lines."""
        left = lines
        for file in sorted(self._folder.glob(self._config.glob)):
            if not file.is_file() or not file.resolve().is_relative_to(self._folder.resolve()):
                continue
            try:
                text = file.read_bytes().decode().replace("\r\n", "\n")
            except UnicodeDecodeError:
                raise MemorySystemError(f"the file {file.name!r} is not UTF-8; write text, or narrow `glob`") from None
            if left is not None:
                head = text.split("\n")[:left]
                left -= len(text.rstrip("\n").split("\n"))
                text = "\n".join(head)
            split = SPLIT[self._config.entry]
            for i, part in enumerate([text] if split is None else re.split(split, text)):
                if part.strip():
                    yield {"text": part.strip("\n"), "id": f"{file.relative_to(self._folder).as_posix()}:{i}"}
            if left is not None and left <= 0:
                return
