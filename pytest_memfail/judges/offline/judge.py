"""The offline judge: a small trained model decides the stages, behind three exact guards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, get_args
from weakref import WeakKeyDictionary

from pytest_memfail.core import (
    UNREAD,
    UNSURE,
    AnswerKind,
    Claim,
    Fact,
    Kind,
    Listing,
    Memory,
    ProtocolName,
    Question,
    Reply,
    StageResult,
    counted,
)
from pytest_memfail.judges.encoder import NAMES, Aligner, Encoder, Network
from pytest_memfail.judges.kinds import SuiteKinds
from pytest_memfail.judges.offline.explain import contrary_of, lost_part, parts_of, quoted, reason_for, strongest_lines
from pytest_memfail.judges.offline.features import MEANINGS, features_of
from pytest_memfail.judges.offline.index import Candidate, Index
from pytest_memfail.judges.offline.lexicon import SYNONYM
from pytest_memfail.judges.offline.match import Match, coverage, is_near_copy
from pytest_memfail.judges.offline.meaning import Meaning
from pytest_memfail.judges.offline.model import Model, Probabilities, corrected_model, shipped_model
from pytest_memfail.judges.offline.readable import is_foreign, plainer, standing, unread_entries
from pytest_memfail.judges.offline.reading import Reading, owner_relation, read_claim
from pytest_memfail.judges.offline.statements import USER, Statement, read_entry
from pytest_memfail.texts import spelled

KEPT: Final = 0.55
"""The minimum probability of a claim that counts as kept (chosen on the dev split: fewer damaged claims pass than at
0.5)."""
SHOWN_KEPT: Final = 16
"""The number of indexed sets of shown memories to keep, for systems that show the same memories repeatedly."""
CERTAIN: Final = 0.995
TURNED: Final = 0.95
"""The probability that a claim is damaged whose contrary is told in its own words, or of which a listed part is nowhere."""
NOTHING: Final = "nothing of it is there, as it should be"
"""Why a claim that a state has ended is kept by memories that mention neither the state nor its end."""
UNKNOWN: Final = Probabilities(0.0, 0.0, 0.0)
"""Of a claim that cannot be read."""
MISSED: Final = 0.7
"""The confidence that a fact is lost if the sentence that says it is not there, though the model takes another one for it."""
STALE: Final = 0.75
"""The minimum share of a replaced value that counts as stated."""
STALE_VALUE: Final = "stale_value"
HARDLY: Final = 0.3
"""Below this share, practically nothing of the current value is there."""
CONTRADICTS: Final = 0.6
"""The similarity above which another statement may contradict the source sentence, so the model decides instead of the guard."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How much of a claim some memories contain."""

    name: Literal["kept", "damaged", "absent", "unread"]
    believed: Probabilities
    reason: str
    entries: tuple[int, ...] = ()
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    label: str | None = None
    is_vacuous: bool = False

    def result(self, confidence: float, reason: str | None = None, *, passed: bool) -> StageResult:
        """Return the result of a stage; ungraded for a claim or memories that cannot be read."""
        if self.name == "unread":
            return StageResult("ungraded", f"{self.reason}: give --memfail-judge a model", label=UNREAD)
        return StageResult(
            "passed" if passed else "failed",
            reason or self.reason,
            self.entries,
            self.found,
            () if passed else self.missing,
            confidence=round(max(0.0, min(1.0, confidence)), 4),
            label=None if passed else self.label,
            vacuous=passed and self.is_vacuous,
        )


class OfflineJudge:
    """Judges storage, summary, retrieval and option letters: offline, deterministic, in milliseconds.

    A suite's own kinds of facts and answers are judged by the functions of these kinds, if they have any.
    """

    inline = True

    def __init__(
        self,
        protocol: ProtocolName = "ours",
        weights: str | Path | None = None,
        kinds: Mapping[str, Kind] = MappingProxyType({}),
        answers: Mapping[str, AnswerKind] = MappingProxyType({}),
        *,
        encoder: bool = False,
    ) -> None:
        """Load the model.

        Args:
            protocol: `ours` or `paper`.
            weights: a correction learned from a user's labels (`memfail judge-check --train`).
            kinds: the kinds of facts of the run's suites; a fact of an unknown kind is checked like any statement.
            answers: the kinds of questions of the run's suites.
            encoder: whether to compare meanings by the encoder too, which needs the packages of an extra.

        Raises `ValueError` for another protocol, `UsageError` for weights that cannot be read and missing packages.
        """
        if protocol not in get_args(ProtocolName):
            raise ValueError(f"got protocol {protocol!r}, expected one of {', '.join(get_args(ProtocolName))}")
        self.protocol: ProtocolName = protocol
        self._suite_kinds = SuiteKinds(kinds, answers)
        self._model: Model = (
            shipped_model(encoder=encoder) if weights is None else corrected_model(Path(weights), encoder=encoder)
        )
        self._meaning = shipped_meaning() if encoder else None
        self.identity = f"offline {self._model.fingerprint}"
        """Name and weights, for records and baselines."""
        self._stores: WeakKeyDictionary[Listing, Index] = WeakKeyDictionary()
        self._index_of_shown = lru_cache(maxsize=SHOWN_KEPT)(Index)

    def storage(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether some version of the fact is in the store (paper, section 3.2, permissive)."""
        return self._of_store("storage", fact, store)

    def summary(self, fact: Fact, store: Listing) -> StageResult:
        """Judge whether the store keeps everything that a right answer needs."""
        return self._of_store("summary", fact, store)

    def _of_store(self, stage: str, fact: Fact, store: Listing) -> StageResult:
        result = found = self._suite_kinds.of_store(fact, stage, store)
        if result is None:
            judged = self._found_in(self._claim(fact), store)
            is_kept, believed = judged.name == "kept", judged.believed
            if stage == "summary":
                result = judged.result(believed.kept if is_kept else believed.damaged, passed=is_kept)
            elif judged.name == "absent":
                result = judged.result(believed.absent, passed=False)
            else:
                reason = None if is_kept else "some version of it is stored"
                result = judged.result(1 - believed.absent, reason, passed=True)
        is_empty, is_found = not store.memories, found is not None
        return self._suite_kinds.offline(fact, stage, result, is_empty=is_empty, is_found=is_found)

    def retrieval(
        self,
        fact: Fact,
        question: Question,  # noqa: ARG002 - the protocol's; what is needed of a fact is in its claim
        shown: Sequence[Memory],
    ) -> StageResult:
        """Judge whether the fact can be recovered from the memories shown alone."""
        found = self._suite_kinds.of_shown(fact, shown)
        result = found or self._retrieval(self._claim(fact), shown)
        is_empty, is_found = not shown, found is not None
        return self._suite_kinds.offline(fact, "retrieval", result, is_empty=is_empty, is_found=is_found)

    def _retrieval(self, claim: Claim, shown: Sequence[Memory]) -> StageResult:
        if not shown and not claim.has_ended:
            return StageResult("failed", "no memory was shown", confidence=1.0)
        texts = tuple(memory.text for memory in shown)
        index = self._index_of_shown(texts, tuple(memory.timestamp for memory in shown))
        store = self._shown_from(claim, index)
        judged = self._find(claim, index, store, is_shown=True)
        if judged.name == "kept":
            if judged.believed.kept < UNSURE and store is not None and _is_only_elsewhere(claim, store, index):
                return StageResult(
                    "failed", "the entry that says it was not shown", missing=_needs(claim), confidence=MISSED
                )
            return judged.result(judged.believed.kept, passed=True)
        if store is not None and (support := _support(claim, store, texts)) is not None:
            places, confidence = support
            return StageResult(
                "passed", "the entries that store it were shown", places, judged.found, confidence=confidence
            )
        return judged.result(1 - judged.believed.kept, passed=False)

    def answer(self, question: Question, facts: Sequence[Fact], reply: Reply | None) -> StageResult:
        """Judge the option letter, or by the suite's grader; other free text stays ungraded (paper, section 4)."""
        if (graded := self._suite_kinds.answer(question, facts, reply)) is not None:
            return graded
        kind = self._suite_kinds.answers.get(question.kind)
        what = "this answer" if kind is not None and kind.grade is not None else "free text"
        return StageResult("ungraded", f"the offline judge cannot judge {what}: give --memfail-judge a model")

    def settles(self, question: Question) -> bool:
        """Return whether the reply is graded even if a fact failed: an option letter, or an answer with an exact grader."""
        return self._suite_kinds.settles(question)

    def logits(self, fact: Fact, store: Sequence[str], shown: Sequence[str] | None = None) -> tuple[float, float]:
        """Return the model's log odds for a store, or memories shown from it: that the fact is kept, and that it is
        absent if not kept.
        """
        found = self._features(fact, store, shown)
        return self._model.logits([found[name] for name in self._model.features])

    def explained(self, fact: Fact, store: Sequence[str], shown: Sequence[str] | None = None) -> list[str]:
        """Return a line per decisive feature: change of the probability, name, value, meaning."""
        meanings = {**MEANINGS, **NAMES} if self._meaning else MEANINGS
        return strongest_lines(self._model, self._features(fact, store, shown), meanings)

    def _features(self, fact: Fact, store: Sequence[str], shown: Sequence[str] | None) -> dict[str, float]:
        reading = read_claim(self._claim(fact))
        match = Match(reading, Index(store))
        return self._features_of(match if shown is None else Match(reading, Index(shown), is_shown=True, store=match))

    def _features_of(self, match: Match) -> dict[str, float]:
        return {**features_of(match), **(self._meaning.features(match) if self._meaning else {})}

    def _claim(self, fact: Fact) -> Claim:
        return _published(fact.claim) if self.protocol == "paper" else fact.claim

    # -- judging -----------------------------------------------------------------------------------------------------

    def closest(self, fact: Fact, store: Listing, number: int) -> list[int]:
        """Return the indices of the entries closest to a fact, closest first; fewer if the others share no word with it."""
        return _closest_entries(_matched(self._claim(fact), self._index(store)), number)

    def _found_in(self, claim: Claim, store: Listing) -> Judgement:
        return self._find(claim, self._index(store))

    def _index(self, store: Listing) -> Index:
        index = self._stores.get(store)
        if index is None:
            memories = store.memories
            index = self._stores[store] = Index([m.text for m in memories], [m.timestamp for m in memories])
            index.said = frozenset(m.text for m, is_said in zip(memories, store.said, strict=False) if is_said)
        return index

    def _shown_from(self, claim: Claim, shown: Index) -> Index | None:
        """Return the judged store that contains all memories shown; None if there is none."""
        # which memories a store has is compared first: it takes less than the hash of a claim
        stores = [
            index for index in self._stores.values() if shown.known <= index.known and (claim, "match") in index.cache
        ]
        return min(stores, key=lambda index: (len(index.texts), index.texts), default=None)

    def _find(self, claim: Claim, index: Index, store: Index | None = None, *, is_shown: bool = False) -> Judgement:
        known: Judgement | None = index.cache.get((claim, is_shown, store))
        if known is None:
            of_store = None if store is None else _matched(claim, store)
            match = (
                Match(read_claim(claim), index, is_shown=True, store=of_store) if is_shown else _matched(claim, index)
            )
            known = index.cache[claim, is_shown, store] = self._look(match)
        return known

    def _look(self, match: Match) -> Judgement:
        """Look for what stands word for word if the model does not find the claim, or cannot read it."""
        reading, index, foreign = match.reading, match.index, is_foreign(match.reading.claim)
        judged = None if foreign and index.statements else self._decide(match)
        if judged is not None and judged.believed.kept < UNSURE and judged.name != "absent" and _is_unsaid(match):
            reason, believed = "no entry has the sentence that says it", Probabilities(0.0, 1 - MISSED, MISSED)
            return Judgement("absent", believed, reason, missing=_needs(reading.claim), label=judged.label)
        if judged is not None and (not index.statements or (judged.name == "kept" and not judged.is_vacuous)):
            return judged
        if judged is not None and not match.is_shown:
            near = tuple(dict.fromkeys(index.spelled[candidate.entry] for candidate in match.candidates))
            for claim in in_other_words(reading.claim, near or index.spelled):
                other = self._decide(Match(read_claim(claim), index))
                if other.name == "kept":
                    return other
        entries = standing(reading, index, is_shown=match.is_shown)
        if entries and (foreign or not _is_contradicted(match)):
            reason = f"found word for word in {quoted(index.texts[entries[0]])}"
            return Judgement("kept", Probabilities(CERTAIN, 1 - CERTAIN, 0.0), reason, entries)
        if judged is None:
            return Judgement("unread", UNKNOWN, "the offline judge reads English only, not this fact or its source")
        if number := unread_entries(reading, index):
            some = f"{number} of {counted(len(index.vocabulary), 'entry')}"
            return Judgement("unread", UNKNOWN, f"the offline judge reads English only, not {some}")
        return judged

    def _decide(self, match: Match) -> Judgement:
        reading, claim, is_shown = match.reading, match.reading.claim, match.is_shown
        stated = _stated_value(match)
        if match.best is None:
            if claim.has_ended:
                return Judgement("kept", Probabilities(CERTAIN, 0.0, 1 - CERTAIN), NOTHING, is_vacuous=True)
            certain = Probabilities(0.0, 1 - CERTAIN, CERTAIN)
            label = STALE_VALUE if stated >= STALE else None
            return Judgement("absent", certain, reason_for(match, "absent", ()), missing=_needs(claim), label=label)
        may_lack = not (claim.has_ended or is_shown)
        if (entries := _verbatim(match)) is not None and not (may_lack and lost_part(match)):
            return Judgement("kept", Probabilities(CERTAIN, 1 - CERTAIN, 0.0), reason_for(match, "kept", ()), entries)
        features = self._features_of(match)
        believed = self._model.probabilities([features[name] for name in self._model.features])
        found, missing = parts_of(match)
        entries = match.relied_on
        if claim.holds_unsaid and _is_whole_rule(claim) and coverage(reading.context, match.union) < 0.5:
            believed = Probabilities(0.0, 0.0, 1.0)
        fault = None if claim.has_ended else contrary_of(match)
        if fault is None and may_lack and believed.kept >= KEPT:
            fault = lost_part(match)
        if fault:
            believed = Probabilities(1 - TURNED, TURNED, 0.0)
        if believed.kept >= KEPT:
            is_vacuous = claim.has_ended and stated < STALE and match.best.score < 0.5
            reason = NOTHING if is_vacuous else reason_for(match, "kept", ())
            return Judgement("kept", believed, reason, entries, found, (), None, is_vacuous)
        label = STALE_VALUE if stated >= STALE else "over_update" if claim.decoys and _decoy_stated(match) else None
        only_old = stated >= STALE and (claim.has_ended or coverage(reading.core, match.union) < HARDLY)
        if only_old or believed.absent > believed.damaged:
            name = "hidden" if is_shown else "absent"
            return Judgement(
                "absent", believed, reason_for(match, name, missing), entries, found, missing or _needs(claim), label
            )
        reason = fault or reason_for(match, "hidden" if is_shown else "damaged", missing)
        return Judgement("damaged", believed, reason, entries, found, missing or _needs(claim), label)


@cache
def shipped_meaning() -> Meaning:
    """Return the comparison by the encoder that ships with the package; loaded once.

    Raises `UsageError` if the packages of the extra are missing.
    """
    tokens = shipped_model(encoder=True).encoder
    return Meaning(Aligner(Encoder(), tokens["rarity"], tokens["unseen"], Network()))


def closest(fact: Fact, texts: Sequence[str], number: int) -> list[int]:
    """Return the indices of the texts closest to a fact, closest first."""
    return _closest_entries(Match(read_claim(fact.claim), Index(texts)), number)


def _closest_entries(match: Match, number: int) -> list[int]:
    return list(dict.fromkeys(candidate.entry for candidate in match.candidates))[:number]


def _is_unsaid(match: Match) -> bool:
    """Return whether each sentence of the entries closest to a claim was said, and none is of its source, or a part of one.

    Then nothing is damaged, but the same may have been said again, which is why the model decides where it is sure.
    """
    index, closest = match.index, {candidate.entry for candidate in match.candidates}
    if (
        match.reading.claim.has_ended
        or not match.reading.said
        or not all(index.texts[at] in index.said for at in closest)
    ):
        return False
    held = [candidate.statement.words for candidate in match.candidates]
    return not any(said.words in words or words in said.words for said in match.reading.said for words in held)


def _is_only_elsewhere(claim: Claim, store: Index, shown: Index) -> bool:
    """Return whether the store has the source's sentences, and the memories shown, each sentence of which was said, none."""
    if claim.has_ended or not shown.known <= store.said or _verbatim(match := _matched(claim, store)) is None:
        return False
    return not any(sentence.words in held.words for sentence in match.reading.said for held in shown.statements)


def _support(claim: Claim, store: Index, shown: tuple[str, ...]) -> tuple[tuple[int, ...], float] | None:
    """Return the positions of the entries that keep the claim in the store and the confidence, if all were shown; else
    None.

    Returns None for states that replace one another, because other memories shown may contradict.
    """
    judged: Judgement | None = store.cache.get((claim, False, None))
    if judged is None or judged.name != "kept" or not judged.entries or claim.replaced:
        return None
    texts = [store.texts[at] for at in judged.entries]
    if not all(text in shown for text in texts):
        return None
    return tuple(shown.index(text) for text in texts), judged.believed.kept


def _matched(claim: Claim, store: Index) -> Match:
    """Return the claim matched against the store, as computed before."""
    known: Match | None = store.cache.get((claim, "match"))
    if known is None:
        known = store.cache[claim, "match"] = Match(read_claim(claim), store)
    return known


@lru_cache(maxsize=65536)
def _published(claim: Claim) -> Claim:
    """Return a claim as the published protocol takes it (appendix D.3)."""
    return replace(claim, holds_unsaid=True)


def in_other_words(claim: Claim, entries: Sequence[str]) -> Iterator[Claim]:
    """Yield the claim with another wording of a listed detail in its text, for each that an entry has."""
    texts = claim.texts("core")
    for detail in claim.listed if len(texts) == 1 and not claim.has_ended else ():
        said = re.compile(rf"\b{re.escape(detail.wordings[0])}\b", re.IGNORECASE)
        for wording in detail.wordings[1:] if said.search(texts[0]) else ():
            wanted = spelled(wording)
            if any(wanted in entry for entry in entries):
                other = wording.replace("\\", r"\\")
                parts = (replace(p, text=said.sub(other, p.text)) if p.text == texts[0] else p for p in claim.parts)
                yield replace(claim, parts=tuple(parts), source=said.sub(other, claim.source))


def _is_whole_rule(claim: Claim) -> bool:
    """Return whether one statement has both a behavior and its condition: the paper then requires them together."""
    return not claim.is_composed and bool(claim.texts("condition"))


def _needs(claim: Claim) -> tuple[str, ...]:
    return tuple(part.text for part in claim.parts if part.required and part.role == "core" and not part.wordings)


def _stated_value(match: Match) -> float:
    """Return the largest share of a replaced value in any statement; a merely similar value does not count."""
    return max((s for keys in match.reading.replaced for s in match.index.shares(keys, SYNONYM).values()), default=0.0)


def _decoy_stated(match: Match) -> bool:
    return any(share >= 0.5 for keys in match.reading.decoys for share in match.index.shares(keys).values())


def _verbatim(match: Match) -> tuple[int, ...] | None:
    """Return the entries that contain the source sentences verbatim, if that settles the matter; else None.

    It does if an entry of the same owner has each sentence and no statement contradicts it. These contradict: a
    replaced value, a wording that states an end, the same sentence about somebody else, or a sentence that differs in a
    few words.
    """
    reading, index = match.reading, match.index
    if not reading.said:
        return None
    entries: list[int] = []
    last = -1
    for sentence in reading.said:
        words = sentence.words
        exact = index.places.get(words, [])
        within = [c.at for c in match.candidates if words in c.statement.words]
        own = [at for at in dict.fromkeys((*exact, *within)) if _is_owners(reading, sentence, at, index)]
        if not own or any(_contradicts(words, candidate) for candidate in match.candidates):
            return None
        entries.append(index.entries[own[0]])
        last = max(last, own[-1])
    if reading.claim.replaced and _stated_later(match, last):
        return None
    return tuple(dict.fromkeys(entries))


def _contradicts(words: str, candidate: Candidate) -> bool:
    """Return whether a statement of the owner differs from a source sentence in only a few words; a question states nothing."""
    other = candidate.statement.words
    is_other = words not in other and candidate.owner >= 0.75 and not candidate.statement.text.endswith("?")
    return is_other and is_near_copy(words.split(), other.split(), CONTRADICTS)


def _is_contradicted(match: Match) -> bool:
    """Return whether a statement of the owner differs from the claim's own words in only a few, and gives no replaced value."""
    claim, index = match.reading.claim, match.index
    said = [s.words for text in claim.texts() for s in read_entry(plainer(text))]
    replaced = {
        at for keys in match.reading.replaced for at, share in index.shares(keys, SYNONYM).items() if share >= STALE
    }
    others = [candidate for candidate in match.candidates if candidate.at not in replaced]
    return any(_contradicts(words, candidate) for words in said for candidate in others)


def _stated_later(match: Match, at: int) -> bool:
    """Return whether a replaced value is stated after this position; False for memories shown without times, which are
    unordered.
    """
    index = match.index
    if match.is_shown and not index.times:
        return False
    said = {sentence.words for sentence in read_entry(match.reading.claim.source)}
    return any(
        index.order(place) > index.order(at) and share >= STALE and index.statements[place].words not in said
        for keys in match.reading.replaced
        for place, share in index.shares(keys, SYNONYM).items()
    )


def _is_owners(reading: Reading, sentence: Statement, at: int, index: Index) -> bool:
    """Return whether a statement that repeats a source sentence is about the claim's owner.

    It is if its entry names the owner, nothing there says otherwise, and it is read as in the source.
    """
    if not reading.owner:
        return True
    first = last = at
    while first and index.entries[first - 1] == index.entries[at]:
        first -= 1
    while last + 1 < len(index.entries) and index.entries[last + 1] == index.entries[at]:
        last += 1
    around = index.statements[first : last + 1]
    if any(reading.owner <= s.keys or owner_relation(reading, s.owner) == 1.0 for s in around):
        return True
    if any(s.owner and s.owner != (USER,) and not reading.names & set(s.owner) for s in around):
        return False
    owner = index.statements[at].owner
    return not owner or owner == sentence.owner
