"""`nli:MODEL`: a local classifier of sentence pairs decides whether entries entail a fact. No endpoint, no key."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from pytest_memfail.core import JudgeError, ProtocolName, UsageError, counted, one_line
from pytest_memfail.judges.support import Support, SupportJudge

PREFIX: Final = "nli:"
"""What the name of such a judge begins with."""
ENTAILS: Final = frozenset({"entailment", "entail", "entails", "entailed", "supported", "supports", "support", "yes"})
CONTRADICTS: Final = frozenset({"contradiction", "contradict", "contradicts", "contradicted", "refuted", "refutes"})
MOST_LABELS: Final = 3
EVEN: Final = 0.5
BATCH: Final = 16
LONGEST: Final = 1024
"""The most tokens read at once, even by models that take more: attention over a whole book hides one fact."""
STRIDE: Final = 64
"""The tokens that two windows of a long entry share, if each is at least twice as long."""
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
ONNX: Final = ("model.onnx", "onnx/model.onnx")
TORCH: Final = ("*.safetensors", "pytorch_model*.bin")
FILES: Final = ("config.json", "tokenizer*.json", "vocab*", "merges.txt", "special_tokens_map.json", "spm.model")


class NliModel:
    """A model of sentence pairs in a folder, or at the Hugging Face hub; loaded on first use."""

    def __init__(self, name: str, entailment: str | None = None, option: str = "--memfail-judge-option") -> None:
        """Find the model and read which of its labels means entailment; `entailment` names it.

        Raises `UsageError` if there is no such model, a package is missing, or the labels are not understood.
        """
        self.name, self._lock = f"{PREFIX}{name}", Lock()
        self._folder = self._folder_of(name)
        self._config = self._read_config()
        self._onnx = next((path for file in ONNX if (path := self._folder / file).is_file()), None)
        if self._onnx is None and not self._weights():
            raise UsageError(f"{self.name}: {self._folder} has no model.onnx, *.safetensors or pytorch_model.bin")
        if self._onnx is None:
            self._package("transformers", "transformers torch")
        else:
            self._package("onnxruntime")
            if not (self._folder / "tokenizer.json").is_file():
                raise UsageError(f"{self.name}: {self._folder} has no tokenizer.json, which model.onnx needs")
        self._package("tokenizers")
        self._entailment, self._contradiction = self._read_labels(entailment, option)

    @cached_property
    def digest(self) -> str:
        """Return ten digits that identify the files of the model, and which of its labels mean what."""
        found = hashlib.sha256(f"{self._entailment} {self._contradiction}".encode())
        for path in [*sorted({path for name in FILES for path in self._folder.glob(name)}), *self._weights()]:
            found.update(path.name.encode())
            with path.open("rb") as file:
                while piece := file.read(1 << 20):
                    found.update(piece)
        return found.hexdigest()[:10]

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return for each pair of a text and a claim the probabilities that it entails and that it contradicts the claim.

        A text longer than the model reads is read in windows; the likeliest counts. Raises `JudgeError` for a claim that is too long,
        and for a model whose output does not fit its labels.
        """
        with self._lock:  # one batch uses all cores
            tokenizer, _ = self._loaded
            windows: list[tuple[int, Any]] = []
            for claim in dict.fromkeys(claim for _, claim in pairs):
                self._leave_room(tokenizer, claim)
                places = [at for at, (_, other) in enumerate(pairs) if other == claim]
                for at, encoded in zip(places, tokenizer.encode_batch([pairs[at] for at in places]), strict=True):
                    windows += [(at, window) for window in (encoded, *encoded.overflowing)]
            found = [(0.0, 0.0)] * len(pairs)
            for start in range(0, len(windows), BATCH):
                batch = windows[start : start + BATCH]
                for (at, _), (held, against) in zip(batch, self._read([one for _, one in batch]), strict=True):
                    found[at] = max(found[at][0], held), max(found[at][1], against)
            return found

    def _leave_room(self, tokenizer: Any, claim: str) -> None:
        """Let texts be cut into windows that the model reads together with this claim."""
        tokenizer.no_truncation()
        size = len(tokenizer.encode(claim).ids)
        if size > self._limit // 2:
            raise JudgeError(
                f"{self.name}: a claim has {size} tokens, expected at most {self._limit // 2}, half of what the model reads at once"
            )
        window = self._limit - len(tokenizer.encode("", claim).ids)
        tokenizer.enable_truncation(self._limit, stride=min(STRIDE, window // 2), strategy="only_first")

    def _read(self, windows: Sequence[Any]) -> list[tuple[float, float]]:
        width = max(len(window.ids) for window in windows)
        known = (
            ([window.ids for window in windows], self._config.get("pad_token_id") or 0),
            ([window.attention_mask for window in windows], 0),
            ([window.type_ids for window in windows], 0),
        )
        given = {
            name: np.array([row + [pad] * (width - len(row)) for row in rows], dtype=np.int64)
            for name, (rows, pad) in zip(INPUTS, known, strict=True)
        }
        logits = np.asarray(self._loaded[1](given), dtype=np.float64)
        wanted = len(windows), len(self._labels)
        if logits.shape != wanted or not np.isfinite(logits).all():
            got = f"of shape {logits.shape}" if logits.shape != wanted else "that are not all finite"
            raise JudgeError(f"{self.name}: the model gave numbers {got}, expected finite ones of shape {wanted}")
        if len(self._labels) == 1:
            return [(float(1 / (1 + np.exp(-row[0]))), 0.0) for row in logits]
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        against = self._contradiction
        return [(float(row[self._entailment]), 0.0 if against is None else float(row[against])) for row in shares]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Return the tokenizer, and a function from its arrays to logits."""
        try:
            tokenizer, run = self._load_torch() if self._onnx is None else self._load_onnx(self._onnx)
            tokenizer.no_padding()
        except Exception as error:
            raise JudgeError(
                f"{self.name}: the model cannot be loaded: {type(error).__name__}: {one_line(error)}"
            ) from error
        return tokenizer, run

    def _load_onnx(self, path: Path) -> tuple[Any, Any]:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer

        session = InferenceSession(str(path), providers=["CPUExecutionProvider"])
        taken = _known_inputs(one.name for one in session.get_inputs())
        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        return tokenizer, lambda given: session.run(None, {name: given[name] for name in taken})[0]

    def _load_torch(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(self._folder).eval()
        tokenizer = AutoTokenizer.from_pretrained(self._folder)
        taken = _known_inputs(tokenizer.model_input_names)

        def run(given: Mapping[str, Any]) -> Any:
            with torch.inference_mode():
                return model(**{name: torch.from_numpy(given[name]) for name in taken}).logits.float().numpy()

        return tokenizer.backend_tokenizer, run

    @property
    def _limit(self) -> int:
        # some models number positions from 2
        return min(int(self._config.get("max_position_embeddings") or 512) - 2, LONGEST)

    def _weights(self) -> list[Path]:
        if self._onnx is not None:
            return sorted(self._onnx.parent.glob("model.onnx*"))
        return sorted(path for name in TORCH for path in self._folder.glob(name))

    def _folder_of(self, name: str) -> Path:
        if (folder := Path(name).expanduser()).is_dir():
            return folder
        if not name or name.startswith((".", "/", "~")) or name.count("/") > 1:
            raise UsageError(
                f"{self.name}: no such folder, expected one with a model, or a model's name at the Hugging Face hub"
            )
        hub = self._package("huggingface_hub")
        try:
            return Path(hub.snapshot_download(name, allow_patterns=[*FILES, *ONNX, "*model.onnx_data", *TORCH]))
        except Exception as error:
            raise UsageError(
                f"{self.name}: no such folder, and the Hugging Face hub has not given it: {one_line(error)[:200]}"
            ) from None

    def _package(self, name: str, install: str = "'pytest-memfail[nli]'") -> Any:
        try:
            return import_module(name)
        except ImportError as error:
            raise UsageError(f"{self.name} needs {name}: pip install {install} ({one_line(error)})") from None

    def _read_config(self) -> dict[str, Any]:
        try:
            config = json.loads((self._folder / "config.json").read_text(encoding="utf-8"))
            self._labels = [str(config["id2label"][str(at)]) for at in range(len(config.get("id2label") or ()))]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{self.name}: {self._folder / 'config.json'} cannot be read ({type(error).__name__}: {one_line(error)}); expected "
                "that of a sequence classifier"
            ) from None
        return dict(config)

    def _read_labels(self, wanted: str | None, option: str) -> tuple[int, int | None]:
        """Return which labels mean entailment and contradiction."""
        labels, names = self._labels, [label.casefold() for label in self._labels]
        if not 1 <= len(labels) <= MOST_LABELS:
            raise UsageError(
                f"{self.name}: got {counted(len(labels), 'label')} in config.json, expected 1 to {MOST_LABELS}"
            )
        against = next((at for at, name in enumerate(names) if name in CONTRADICTS), None)
        if wanted is not None and wanted.casefold() in names:
            return names.index(wanted.casefold()), against
        found = [at for at, name in enumerate(names) if name in ENTAILS or len(names) == 1]
        if wanted is not None or len(found) != 1:
            got = "labels" if wanted is None else f"entailment={wanted}, but labels"
            raise UsageError(
                f"{self.name}: got the {got} {', '.join(labels)}; say which one means that the text supports the claim: "
                f"{option}=entailment={labels[-1]}"
            )
        return found[0], against


def _known_inputs(names: Iterable[str]) -> list[str]:
    """Return the names of a model's inputs. Raise `ValueError` if it needs one that no classifier of pairs gets here."""
    found = list(names)
    if others := [name for name in found if name not in INPUTS]:
        raise ValueError(f"it needs {', '.join(others)}, expected a model that reads only {', '.join(INPUTS)}")
    return found


class NliJudge(SupportJudge):
    """Judges storage, summary and retrieval by entailment, on this machine."""

    def __init__(self, model: NliModel, protocol: ProtocolName = "ours", **kinds: Any) -> None:
        """Judge by this model; `kinds` are the arguments of `SupportJudge`."""
        super().__init__(protocol, **kinds)
        self._model = model
        self.identity = f"nli {model.digest} + {self._offline.identity}"

    async def supports(self, documents: Sequence[Sequence[str]], claim: str, stage: str) -> list[Support]:  # noqa: ARG002
        """Return what each document entails of a claim."""
        pairs = [("\n".join(document), claim) for document in documents]
        # outside the event loop, where other questions go on
        scores = await asyncio.to_thread(self._model.scores, pairs)
        return [Support(held > EVEN, max(held, 1 - held), contradicts=against > EVEN) for held, against in scores]
