"""Train the network of the judge with the encoder, which `tools/train_judge.py --encoder` does; needs torch and onnx.

A token's vectors are projected, set beside those of its counterparts, and read in context by two layers of attention;
what all tokens say together gives three outcomes: kept, damaged, absent.
"""

from __future__ import annotations

import math
import multiprocessing
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from pytest_memfail.judges.encoder import READINGS, Aligner, Beside, Passage, inputs_of, readings

SEED = 20261130
FOLDS = 4
EPOCHS = 4
BATCH = 32
SORTED = 16
"""The number of batches whose examples are sorted by length, so that little is padded."""
RATE = 1e-3
DECAY = 0.2
WARM = 0.05
"""The share of the steps before the full rate."""
DROPPED = 0.35
WIDTH = 96
PROJECTED = 64
HEADS = 4
VECTOR = 384
SCALE = VECTOR**0.5
MARKED = 9
"""The number of marks of a token, which `inputs_of` gives."""
OPSET = 17


class Seen(NamedTuple):
    """What the network sees of a claim and some memories."""

    texts: list[Passage]
    found: Beside


@dataclass(frozen=True)
class Lesson:
    """An example for the network."""

    seen: Seen | None
    """None if one side has no tokens."""
    target: tuple[float, float, float, float]
    """The probabilities of kept, damaged, absent; and of damaged or absent where nobody said which."""
    chance: float
    """How often an epoch has it."""
    row: str


class Recorder(Aligner):
    """Aligns, and keeps what the network will see; its numbers are 0 until they are filled in."""

    last: Seen | None = None

    def readings(self, texts: Sequence[Passage], found: Beside | None) -> list[float]:
        """Keep what there is to see."""
        self.last = None if found is None else Seen(list(texts), found)
        return super().readings(texts, found)

    def lesson(self, target: tuple[float, float, float, float], chance: float, row: str) -> Lesson:
        """Return a lesson about what was aligned last."""
        return Lesson(self.last, target, chance, row)


class Attention(nn.Module):
    """A layer in which the tokens read one another."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.mixed = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, tokens: Any, used: Any) -> Any:
        """Return the tokens after the layer."""
        texts, length, _ = tokens.shape
        asked = self.asked(self.before(tokens)).view(texts, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        weights = weights.masked_fill(~used[:, None, None, :], -1e4).softmax(-1)
        tokens = tokens + self.drop(self.mixed((weights @ value).transpose(1, 2).reshape(texts, length, WIDTH)))
        return tokens + self.drop(self.narrow(nn.functional.gelu(self.wide(self.after(tokens)))))


class Net(nn.Module):
    """The network: for B examples of at most L tokens, the logits of the three outcomes."""

    def __init__(self) -> None:
        super().__init__()
        self.low, self.high = (nn.Linear(VECTOR, PROJECTED, bias=False) for _ in range(2))
        self.kind = nn.Embedding(3, WIDTH)
        self.token = nn.Linear(10 * PROJECTED + MARKED + 4, WIDTH)
        self.norm, self.first, self.drop = nn.LayerNorm(WIDTH), Attention(), nn.Dropout(DROPPED)
        self.outcome = nn.Sequential(nn.Linear(6 * WIDTH, WIDTH), nn.GELU(), nn.Dropout(DROPPED), nn.Linear(WIDTH, 3))
        self.second = Attention()

    def forward(self, low: Any, high: Any, marks: Any, kinds: Any, used: Any) -> Any:
        """Return the logits.

        Args:
            low: B x L x 3 x 384, the vectors of each token and of its two counterparts after the second layer.
            high: the same after the last layer.
            marks: B x L x 9.
            kinds: B x L.
            used: B x L, false where an example has fewer tokens.
        """
        parts, similar = [], []
        for vectors, projection in ((high, self.high), (low, self.low)):
            own, *others = (projection(vectors[:, :, at] * SCALE) for at in range(3))
            parts += [own, *(part for other in others for part in ((own - other).abs(), own * other))]
            similar += [(vectors[:, :, 0] * vectors[:, :, at]).sum(-1, keepdim=True) for at in (1, 2)]
        tokens = self.token(self.drop(torch.cat([*parts, marks, *similar], -1)))
        tokens = self.second(self.first(self.norm(tokens + self.kind(kinds)), used), used)
        pooled = []
        for kind in range(3):
            some = (used & (kinds == kind))[..., None]
            pooled.append((tokens * some).sum(1) / some.sum(1).clamp(min=1))
            most = tokens.masked_fill(~some, -1e4).max(1).values
            pooled.append(most * some.any(1))
        return self.outcome(torch.cat(pooled, -1))


class Exported(nn.Module):
    """The network for one example, without padding."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, low: Any, high: Any, marks: Any, kinds: Any) -> Any:
        """Return the three logits."""
        used = torch.ones_like(kinds, dtype=torch.bool)
        return self.net(low[None], high[None], marks[None], kinds[None], used[None])[0]


class School:
    """Teaches networks, and asks them."""

    def __init__(self, marks: Any, lessons: Sequence[Lesson], pairs: Sequence[tuple[Lesson, Lesson]]) -> None:
        """Prepare.

        Args:
            marks: the marks of each token.
            lessons: labelled facts.
            pairs: a damaged memory and the same in other words.
        """
        self._marks = marks
        self._lessons = [lesson for lesson in lessons if lesson.seen and lesson.chance]
        self._pairs = [(damaged, same) for damaged, same in pairs if damaged.seen and same.seen]

    def batch(self, seen: Sequence[Seen]) -> tuple[Any, ...]:
        """Return the inputs for some examples, padded."""
        inputs = [inputs_of(one.found, one.texts, self._marks) for one in seen]
        length = max(len(one["kinds"]) for one in inputs)
        padded = []
        for name in ("low", "high", "marks", "kinds"):
            first = inputs[0][name]
            some = np.zeros((len(inputs), length, *first.shape[1:]), dtype=first.dtype)
            for at, one in enumerate(inputs):
                some[at, : len(one[name])] = one[name]
            padded.append(torch.from_numpy(some))
        used = np.arange(length)[None] < np.array([[len(one["kinds"])] for one in inputs])
        return (*padded, torch.from_numpy(used))

    def fit(self, keeps: Callable[[str], bool]) -> Net:
        """Return a network taught on the rows that are kept."""
        torch.manual_seed(SEED)
        rng = random.Random(SEED)
        net = Net()
        optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY, betas=(0.9, 0.98))
        lessons = [lesson for lesson in self._lessons if keeps(lesson.row)]
        pairs = [pair for pair in self._pairs if keeps(pair[0].row)]
        steps = EPOCHS * len(list(_batches(lessons, pairs, random.Random(SEED))))
        step = 0
        net.train()
        for epoch in range(EPOCHS):
            losses = []
            for some in _batches(lessons, pairs, rng):
                step += 1
                for group in optimizer.param_groups:
                    group["lr"] = RATE * _share_of_rate(step, steps)
                loss = self._loss(net, some)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.item())
            print(f"network: epoch {epoch}, {len(losses)} batches, loss {np.mean(losses):.3f}", flush=True)
        return net.eval()

    def _loss(self, net: Net, some: Sequence[tuple[Lesson, ...]]) -> Any:
        every = [lesson for group in some for lesson in group]
        logits = net(*self.batch([lesson.seen for lesson in every if lesson.seen]))
        chances = torch.log_softmax(logits, -1)
        not_kept = torch.logsumexp(chances[:, 1:], -1)
        target = torch.tensor([lesson.target for lesson in every])
        loss = -((target[:, :3] * chances).sum(-1) + target[:, 3] * not_kept).mean()
        starts = np.cumsum([0, *(len(group) for group in some)])
        damaged = torch.tensor([int(at) for at, group in zip(starts, some, strict=False) if len(group) == 2], dtype=int)
        odds = chances[:, 0] - not_kept
        return loss + nn.functional.softplus(odds[damaged] - odds[damaged + 1]).sum() / len(every)

    @torch.inference_mode()
    def numbers(self, net: Net, seen: Sequence[Seen | None]) -> Any:
        """Return the readings of each example; 0 where there is nothing to see."""
        found = np.zeros((len(seen), len(READINGS)))
        order = sorted((at for at, one in enumerate(seen) if one), key=lambda at: len(seen[at].found.kinds))
        for first in range(0, len(order), 4 * BATCH):
            some = order[first : first + 4 * BATCH]
            logits = net(*self.batch([one for at in some if (one := seen[at])]))
            found[some] = [readings(*row) for row in logits.tolist()]
        return found


def _batches(
    lessons: Sequence[Lesson], pairs: Sequence[tuple[Lesson, Lesson]], rng: random.Random
) -> Iterator[list[tuple[Lesson, ...]]]:
    """Return the batches of an epoch; the two of a pair stay together."""
    every: list[tuple[Lesson, ...]] = [(lesson,) for lesson in lessons if rng.random() < lesson.chance]
    every += pairs
    rng.shuffle(every)
    batches = []
    for first in range(0, len(every), BATCH * SORTED):
        some = sorted(every[first : first + BATCH * SORTED], key=lambda group: len(group[0].seen.found.kinds))
        batches += [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
    rng.shuffle(batches)
    return iter(batches)


def _share_of_rate(step: int, steps: int) -> float:
    """Return the share of the rate: warming up, then half a cosine down to a hundredth."""
    warm = int(WARM * steps) + 1
    return min(step / warm, max(0.01, 0.5 + 0.5 * math.cos(math.pi * min(1.0, (step - warm) / max(1, steps - warm)))))


def fold_of(row: str) -> int:
    """Return the fold of a row."""
    return zlib.crc32(row.encode()) % FOLDS


def teach(school: School, asked: Sequence[Lesson], path: Path) -> Any:
    """Write a network taught on everything, and return the readings of each example by one taught without its row.

    Args:
        school: teaches.
        asked: the examples whose readings are wanted.
        path: where the network is written.
    """
    torch.set_num_threads(1)
    _Shared.school, _Shared.asked, _Shared.path = school, asked, path
    with multiprocessing.get_context("fork").Pool(processes=2, maxtasksperchild=1) as pool:
        parts = pool.map(_taught, [None, *range(FOLDS)], chunksize=1)
    found = np.zeros((len(asked), len(READINGS)))
    for places, numbers in parts[1:]:
        found[places] = numbers
    return found


class _Shared:
    """What the processes share."""

    school: School
    asked: Sequence[Lesson]
    path: Path


def _taught(fold: int | None) -> tuple[list[int], Any]:
    """Teach without a fold and return the readings of its examples; without none, write the network."""
    school = _Shared.school
    net = school.fit(lambda row: fold is None or fold_of(row) != fold)
    if fold is None:
        export(net, _Shared.path)
        return [], np.zeros((0, len(READINGS)))
    places = [at for at, lesson in enumerate(_Shared.asked) if fold_of(lesson.row) == fold]
    return places, school.numbers(net, [_Shared.asked[at].seen for at in places])


def export(net: Net, path: Path) -> None:
    """Write the network for onnxruntime."""
    length = 12
    example = (
        torch.zeros(length, 3, VECTOR),
        torch.zeros(length, 3, VECTOR),
        torch.zeros(length, MARKED),
        torch.arange(length) % 3,
    )
    names = ["low", "high", "marks", "kinds"]
    torch.onnx.export(
        Exported(net).eval(),
        example,
        str(path),
        input_names=names,
        output_names=["outcomes"],
        dynamic_axes={name: {0: "tokens"} for name in names},
        opset_version=OPSET,
        dynamo=False,
    )
