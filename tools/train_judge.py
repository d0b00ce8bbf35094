"""Train the offline judge: from `datasets/calibration/` to its weights and its model card.

    python tools/train_judge.py            # fit on train, calibrate, measure on dev, write weights and card
    python tools/train_judge.py --test     # measure on test too, after all decisions
    python tools/train_judge.py --encoder  # the same for the judge with the encoder, whose card is another

Needs scikit-learn (`pip install -e '.[train]'`), and with --encoder the extra `encoder`, torch and onnx: it first trains
the network that reads the encoder's vectors, on the cases and all pairs of `more/` too. The trees of both judges are also
fitted on the near copies of `more/`; those of the judge with the encoder on its cases, at a lower weight, and on planted
faults of their rows. The trees of the judge without did no better with these cases. With the contrast pairs trees do
worse, because they learn how the authors write. The same data and versions give the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from pytest_memfail.calibration import (
    POINTS,
    Case,
    Label,
    cases_folder,
    data_hash,
    judge_cases,
    measure,
    planted_cases,
    read_cases,
    shipped_cases,
)
from pytest_memfail.judges import OfflineJudge
from pytest_memfail.judges.encoder import FOLDER, NAMES, NETWORK, READINGS, Encoder, weights_digest
from pytest_memfail.judges.offline.features import MEANINGS, features_of
from pytest_memfail.judges.offline.index import Index
from pytest_memfail.judges.offline.match import Match
from pytest_memfail.judges.offline.meaning import Meaning
from pytest_memfail.judges.offline.model import HEADS, WEIGHTS, logit, shipped_model
from pytest_memfail.judges.offline.reading import read_claim
from pytest_memfail.report import model_card
from pytest_memfail.suites import built_in_suite
from pytest_memfail.suites.memfail.plan import task_of_rows

if TYPE_CHECKING:
    from train_network import Lesson, Recorder

MEMFAIL = built_in_suite("memfail")
REPOSITORY = Path(__file__).parents[1]
OFFLINE = REPOSITORY / "pytest_memfail" / "judges" / "offline"
CARDS = {False: REPOSITORY / "docs" / "model_card.md", True: REPOSITORY / "docs" / "model_card_encoder.md"}
"""The cards of the judge without and with the encoder."""
SHARES = REPOSITORY / "pytest_memfail" / "report" / "unsure.json"
"""How often unsure verdicts are right, which the end of a run says, by judge."""
JUDGES = {False: "offline", True: "offline encoder=on"}
SEED = 20261124
FORESTS = 1
TREES = {
    "max_iter": 400,
    "learning_rate": 0.04,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 5.0,
    "max_features": 0.3,
}
LINEAR_C = 0.01
TREE_SHARE = 0.7
FOLDS = 3
FIRST_LABEL = 0.75
"""The weight of the label itself if a careful reader could defend others; these share the rest."""
SHOWN_OF_LOST = 0.3
"""The weight of memories shown whose fact the store has lost already, so that the stage is not reached."""
PLANTED = 0.5
"""The weight of a planted fault relative to a labelled fact."""
PLANTED_EVERY = 3
MORE = 0.7
"""The weight of a labelled fact of `more/` relative to one of the folder above it."""
NEAR = {False: 0.25, True: 0.5}
"""The weight of a near copy relative to a labelled fact, without and with the encoder."""
POOL_SIZES = (90, 200)
"""The sizes of stores mixed with entries of other cases."""
AS_IS = 0.6
"""The weight of a store as written; the mixed store has the rest."""
FOREIGN = 0.25
"""The weight of a fact with a store of other cases only."""
FOREIGN_FEW = 0.1
"""The weight of a fact with a few entries of other cases only."""
PASSAGES = 80_000
"""The number of passages whose vectors are kept, about 4 GB: more than the training data has."""
READ_FOREIGN = 0.05
"""How often an epoch of the network has a fact with a store of other cases only."""
READ_SHOWN = {"not_retrieved": 1.0, "ok": 0.4, "summary_error": 0.15, "not_stored": 0.1}
"""How often it has the memories shown, by label."""
DAMAGED = {"summary_error": 0.85, "not_stored": 0.15}
"""The labels of the damaged one of a contrast pair; nobody said which of them it is."""
MANY = ("early", "shipped")
"""Author names that stand for several people."""


@dataclass
class Examples:
    """Rows of features with their targets."""

    features: np.ndarray[Any, Any]
    kept: np.ndarray[Any, Any]
    absent: np.ndarray[Any, Any]
    """Share of `absent` among what is not kept."""
    weight_kept: np.ndarray[Any, Any]
    weight_absent: np.ndarray[Any, Any]
    groups: list[str]
    """The row of each example."""
    cases: list[str]
    """The case of each example."""
    lessons: list[Lesson] = field(default_factory=list)
    """For the network; empty without it."""


class Gatherer:
    """Collects examples, with the encoder's features and lessons for the network if there is a `recorder`."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self._recorder = recorder
        self._lessons: list[Lesson] = []
        self._rows: list[list[float]] = []
        self._targets: list[tuple[float, float, float, float]] = []
        self._groups: list[str] = []
        self._cases: list[str] = []

    def add(
        self,
        case: Case,
        texts: Sequence[str],
        share: Mapping[str, float],
        at: int,
        weight: float,
        shown: Sequence[str] | None = None,
        chance: float | None = None,
    ) -> None:
        """Add one fact of a case with a store, or with memories shown from it.

        Args:
            case: the case.
            texts: the store.
            share: the probability of each label.
            at: the place of the fact.
            weight: the weight of the example.
            shown: the memories shown.
            chance: how often the network reads it in an epoch; by default as the weight and the label say.
        """
        reading = read_claim(case.evidence[at].claim)
        match = Match(reading, self._index_of(tuple(texts)))
        if shown is not None:
            match = Match(reading, self._index_of(tuple(shown)), is_shown=True, store=match)
        numbers = features_of(match)
        found = [numbers[name] for name in MEANINGS]
        lost = share.get("not_stored", 0.0) + share.get("summary_error", 0.0)
        kept = share.get("ok", 0.0) + (share.get("not_retrieved", 0.0) if shown is None else 0.0)
        absent = share.get("not_stored", 0.0) / lost if lost else 0.0
        if self._recorder is not None:
            self._recorder.last = None
            numbers = Meaning(self._recorder).features(match)
            found += [numbers[name] for name in NAMES]
            if chance is None:
                chance = weight if shown is None else sum(part * READ_SHOWN[label] for label, part in share.items())
            target = (kept, lost * (1 - absent), lost * absent, 0.0) if shown is None else (kept, 0.0, 0.0, 1 - kept)
            self._lessons.append(self._recorder.lesson(target, chance, case.row))
        self._rows.append(found)
        weight_kept = weight * (SHOWN_OF_LOST if shown is not None and lost > 0.5 else 1.0)
        self._targets.append((kept, absent, weight_kept, weight * lost if shown is None else 0.0))
        self._groups.append(case.row)
        self._cases.append(case.id)

    def examples(self) -> Examples:
        """Return the collected examples."""
        return Examples(np.array(self._rows), *np.array(self._targets).T, self._groups, self._cases, self._lessons)

    @staticmethod
    @lru_cache(maxsize=4)
    def _index_of(texts: tuple[str, ...]) -> Index:
        return Index(texts)


def shares_of(label: Label) -> dict[str, float]:
    """Return the probability of each label."""
    others = label.accepted - {label.label}
    share = {name: (1 - FIRST_LABEL) / len(others) for name in others}
    share[label.label] = FIRST_LABEL if others else 1.0
    return share


def examples_of(
    cases: Sequence[Case], weight: float = 1.0, *, varied: bool = False, recorder: Recorder | None = None
) -> Examples:
    """Return two examples per fact: the store, and the memories shown.

    Args:
        cases: labelled cases.
        weight: the weight of each example.
        varied: whether to add each store mixed with entries of other cases, and each fact with a store of other cases
            only, where it must be absent: runs have hundreds of entries, some of which are similar by chance.
        recorder: computes the encoder's features, for the judge that has them.
    """
    gatherer = Gatherer(recorder)
    rng = random.Random(SEED)
    pool = [(case.row, case.author, text) for case in cases for text in (m.text for m in case.listing.memories)]
    for case in cases:
        store, shown = ([m.text for m in some] for some in (case.listing.memories, case.shown))
        others: list[str] = []
        few = 0
        if varied:
            drawn = rng.sample(pool, min(len(pool), rng.choice(POOL_SIZES)))
            others = [
                text for row, author, text in drawn if row != case.row and (author != case.author or author in MANY)
            ]
            mixed = [*store, *others]
            rng.shuffle(mixed)
            few = rng.choice((1, 2, 4, 8))
        for at, label in enumerate(case.labels):
            share = shares_of(label)
            replaces = bool(case.evidence[at].claim.replaced)  # its entries have an order
            gatherer.add(case, store, share, at, weight * (AS_IS if varied and not replaces else 1.0))
            gatherer.add(case, store, share, at, weight, shown)
            if varied and not replaces:
                gatherer.add(case, mixed, share, at, weight * (1 - AS_IS))
            if varied and not case.evidence[at].claim.has_ended:
                gatherer.add(case, others, {"not_stored": 1.0}, at, weight * FOREIGN, chance=READ_FOREIGN)
                gatherer.add(case, others[:few], {"not_stored": 1.0}, at, weight * FOREIGN_FEW, chance=READ_FOREIGN)
    return gatherer.examples()


def planted_of(cases: Sequence[Case]) -> list[Case]:
    """Return planted faults for the rows of the cases, with one store per task, as large as in a run."""
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for case in cases:
        if case.task != POINTS:
            rows[case.task].setdefault(case.row, case.columns)
    planted = planted_cases(
        MEMFAIL.plants(),
        [task_of_rows(task, list(some.items())) for task, some in sorted(rows.items())],
        every=PLANTED_EVERY,
    )
    # a fold must not have a row of another; the facts of a persona are named after its questions, row-q1 and so on
    names = [case.id.split(":")[0] for case in planted]
    known = {name for some in rows.values() for name in some}
    return [
        replace(case, row=name if name in known else name.rpartition("-q")[0])
        for case, name in zip(planted, names, strict=True)
    ]


def pairs_of(cases: Sequence[Case], path: Path, recorder: Recorder | None = None) -> Examples:
    """Return the stores of contrast pairs, each damaged one before that which keeps the fact.

    A line of the file names a case, the place of one of its facts, and for each edited entry both texts.
    """
    gatherer = Gatherer(recorder)
    by_id = {case.id: case for case in cases}
    for pair in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        case = by_id[pair["case"]]
        for form, share in (("damaged", DAMAGED), ("same", {"ok": 1.0})):
            texts = [memory.text for memory in case.listing.memories]
            for edit in pair["edits"]:
                texts[edit["entry"]] = edit[form]
            gatherer.add(case, texts, share, pair["fact"], NEAR[recorder is not None], chance=1.0)
    found = gatherer.examples()
    # nobody said whether the fact is damaged or absent, so that the trees learn nothing about that
    return replace(found, weight_absent=np.zeros(len(found.groups)))


def joined(some: Sequence[Examples]) -> Examples:
    """Return the examples of several together, without lessons."""
    arrays = ("features", "kept", "absent", "weight_kept", "weight_absent")
    groups, cases = ([name for one in some for name in getattr(one, names)] for names in ("groups", "cases"))
    return Examples(*(np.concatenate([getattr(one, name) for one in some]) for name in arrays), groups, cases)


def doubled(features: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return each example once as true and once as false, weighted by the probability of either."""
    both = np.vstack([features, features])
    truth = np.r_[np.ones(len(target)), np.zeros(len(target))]
    weights = np.r_[weight * target, weight * (1 - target)]
    used = weights > 0
    return both[used], truth[used], weights[used]


class Fitted:
    """Trees and a logistic regression for one head."""

    def __init__(self, features: Any, target: Any, weight: Any) -> None:
        x, y, w = doubled(features, target, weight)
        self.forests = [
            HistGradientBoostingClassifier(**TREES, random_state=SEED + i).fit(x, y, w) for i in range(FORESTS)
        ]
        self.mean, self.scale = x.mean(axis=0), x.std(axis=0)
        self.scale[self.scale < 1e-9] = 1.0
        self.line = LogisticRegression(C=LINEAR_C, max_iter=5000).fit((x - self.mean) / self.scale, y, w)

    def probability(self, features: Any) -> Any:
        """Return the uncalibrated probability of each row."""
        by_trees = np.mean([forest.decision_function(features) for forest in self.forests], axis=0)
        by_line = self.line.decision_function(np.clip((features - self.mean) / self.scale, -30, 30))
        return TREE_SHARE / (1 + np.exp(-by_trees)) + (1 - TREE_SHARE) / (1 + np.exp(-by_line))

    def stored(self) -> dict[str, Any]:
        """Return the values that inference needs."""
        trees = [_tree(predictors[0].nodes) for forest in self.forests for predictors in forest._predictors]
        baseline = float(np.mean([forest._baseline_prediction.ravel()[0] for forest in self.forests]))
        return {
            "trees": [tree for tree, _ in trees],
            "depth": max(depth for _, depth in trees),
            "forests": FORESTS,
            "baseline": round(baseline, 6),
            "tree_share": TREE_SHARE,
            "linear": {
                "mean": _rounded(self.mean),
                "scale": _rounded(self.scale),
                "weights": _rounded(self.line.coef_[0]),
                "bias": round(float(self.line.intercept_[0]), 6),
            },
        }


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 6) for value in values]


def _tree(nodes: Any) -> tuple[dict[str, list[Any]], int]:
    """Return the nodes of a tree as lists; a leaf points to itself."""
    places = range(len(nodes))
    leaf = [bool(node["is_leaf"]) for node in nodes]
    tree = {
        "feature": [0 if leaf[i] else int(nodes[i]["feature_idx"]) for i in places],
        "threshold": [0.0 if leaf[i] else round(float(nodes[i]["num_threshold"]), 6) for i in places],
        "left": [i if leaf[i] else int(nodes[i]["left"]) for i in places],
        "right": [i if leaf[i] else int(nodes[i]["right"]) for i in places],
        "value": [round(float(nodes[i]["value"]), 5) if leaf[i] else 0.0 for i in places],
    }
    return tree, int(max(node["depth"] for node in nodes))


def fitted(examples: Examples, extra: Examples) -> dict[str, Fitted]:
    """Return both heads fitted on the examples, and on further ones at their lower weight."""
    every = joined([examples, extra])
    heads = {}
    for name in HEADS:
        target, weight = getattr(every, name), getattr(every, f"weight_{name}")
        used = weight > 0
        heads[name] = Fitted(every.features[used], target[used], weight[used])
    return heads


def held_out(examples: Examples, extra: Examples) -> dict[str, Any]:
    """Return the probabilities of each example by heads fitted without its row."""
    found = {name: np.zeros(len(examples.groups)) for name in HEADS}
    groups = np.array(examples.groups)
    for train, test in GroupKFold(FOLDS).split(examples.features, groups=groups):
        others = part(extra, ~np.isin(extra.groups, np.unique(groups[test])))
        for name, head in fitted(part(examples, train), others).items():
            found[name][test] = head.probability(examples.features[test])
    return found


def part(examples: Examples, chosen: Any) -> Examples:
    """Return some of the examples, without lessons."""
    names = [list(np.array(some)[chosen]) for some in (examples.groups, examples.cases)]
    arrays = (examples.features, examples.kept, examples.absent, examples.weight_kept, examples.weight_absent)
    return Examples(*(array[chosen] for array in arrays), *names)


def calibration(probability: Any, target: Any, weight: Any) -> tuple[float, float]:
    """Return slope and offset that turn log odds into calibrated ones (Platt's scaling)."""
    x, y, w = doubled(np.array([[logit(p)] for p in probability]), target, weight)
    line = LogisticRegression(C=1e6, max_iter=1000).fit(x, y, w)
    return round(float(line.coef_[0][0]), 4), round(float(line.intercept_[0]), 4)


def main(arguments: Sequence[str]) -> int:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="measure on the test split too")
    parser.add_argument("--encoder", action="store_true", help="train the judge with the encoder")
    parser.add_argument("--card", action="store_true", help="fit nothing: measure the weights that there are")
    options = parser.parse_args(arguments)
    if not options.card:
        write(trained(encoder=options.encoder), encoder=options.encoder)
    splits = ("dev", "test") if options.test else ("dev",)
    figures = {
        split: measure(
            judge_cases(OfflineJudge(encoder=options.encoder), read_cases(MEMFAIL, shipped_cases(MEMFAIL, (split,))))
        )
        for split in splits
    }
    shares = json.loads(SHARES.read_bytes()) | {JUDGES[options.encoder]: figures["dev"]["unsure"]}
    SHARES.write_text(json.dumps(shares) + "\n", encoding="utf-8")
    card = model_card(shipped_model(encoder=options.encoder).header, figures)
    CARDS[options.encoder].write_text(card, encoding="utf-8")
    print(card)
    return 0


def token_weights(encoder: Encoder, cases: Sequence[Case]) -> dict[str, Any]:
    """Return the weight of each token, which is the smaller the more entries of the cases have it."""
    texts = {memory.text for case in cases for memory in case.listing.memories}
    number = Counter(int(token) for text in texts for token in set(encoder.passage(text).ids))
    rarity = {str(token): round(math.log((len(texts) + 1) / (n + 1)), 4) for token, n in sorted(number.items())}
    return {"rarity": rarity, "unseen": round(math.log(len(texts) + 1), 4)}


def trained(*, encoder: bool) -> dict[str, Any]:
    """Return fitted and calibrated weights with their header."""
    folder = cases_folder(MEMFAIL)
    cases = read_cases(MEMFAIL, [folder / "train.jsonl"])
    every = [*cases, *read_cases(MEMFAIL, [folder / "more" / "train.jsonl"])]
    near = folder / "more" / "near.jsonl"
    if not encoder:
        planted = examples_of(planted_of(cases), PLANTED)
        return fitted_weights(cases, examples_of(cases, varied=True), planted, pairs_of(every, near))
    from train_network import Recorder, School, teach

    vectors = Encoder(PASSAGES)
    tokens = token_weights(vectors, every)
    recorder = Recorder(vectors, tokens["rarity"], tokens["unseen"])
    gathered = examples_of(every, varied=True, recorder=recorder)
    planted = examples_of(planted_of(every), PLANTED, recorder=recorder)
    paired = [pairs_of(every, path, recorder) for path in (folder / "more" / "pairs.jsonl", near)]
    lessons = [lesson for some in paired for lesson in some.lessons]
    pairs = [*zip(lessons[::2], lessons[1::2], strict=True)]
    asked = (gathered, planted, paired[-1])
    school = School(recorder.marks, gathered.lessons, pairs)
    found = teach(school, [lesson for some in asked for lesson in some.lessons], FOLDER / NETWORK)
    for some in asked:
        some.features[:, -len(READINGS) :], found = np.split(found, [len(some.groups)])
    lighter = np.where(np.isin(gathered.cases, [case.id for case in cases]), 1.0, MORE)
    gathered.weight_kept, gathered.weight_absent = gathered.weight_kept * lighter, gathered.weight_absent * lighter
    stored = fitted_weights(every, gathered, planted, paired[-1])
    stored["features"] += NAMES
    stored["encoder"] = tokens
    stored["header"] |= {
        "encoder": weights_digest(),
        "network_pairs": len(pairs),
    }
    return stored


def fitted_weights(cases: Sequence[Case], examples: Examples, planted: Examples, near: Examples) -> dict[str, Any]:
    """Return the weights fitted on the examples of the cases, planted faults and near copies, calibrated on the first."""
    random.seed(SEED)
    extra = joined([planted, near])
    print(f"{len(examples.groups)} examples, {len(extra.groups)} further ones", file=sys.stderr)
    outside = held_out(examples, extra)
    stored: dict[str, Any] = {
        "header": {
            "data": data_hash(cases_folder(MEMFAIL)),
            "seed": SEED,
            "scikit-learn": sklearn.__version__,
            "train_facts": sum(len(case.labels) for case in cases),
            "train_rows": len({case.row for case in cases}),
            "near_pairs": len(near.groups) // 2,
        },
        "features": list(MEANINGS),
        "typical": _rounded(np.median(examples.features, axis=0)),
        "heads": {},
    }
    for name, head in fitted(examples, extra).items():
        weight = getattr(examples, f"weight_{name}")
        used = weight > 0
        fit = calibration(outside[name][used], getattr(examples, name)[used], weight[used])
        stored["heads"][name] = {**head.stored(), "calibration": fit}
    return stored


def write(stored: dict[str, Any], *, encoder: bool) -> None:
    """Write the weights; the same weights give the same bytes."""
    path = OFFLINE / WEIGHTS[encoder]
    text = json.dumps(stored, separators=(",", ":"), sort_keys=True)
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.encode())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:10]
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {digest}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
