"""The judge itself: evidence and a view in, the result of a stage out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, get_args
from weakref import WeakKeyDictionary

from pytest_memfail.core import Evidence, Listing, Memory, Question, Reply, StageResult
from pytest_memfail.judges.rules.curated import refine
from pytest_memfail.judges.rules.exchanged import exchanged
from pytest_memfail.judges.rules.fact import find_fact
from pytest_memfail.judges.rules.fact_reading import read_fact
from pytest_memfail.judges.rules.finding import Finding, stated_keys
from pytest_memfail.judges.rules.letters import parse_letter
from pytest_memfail.judges.rules.link import find_link
from pytest_memfail.judges.rules.persona import find_persona
from pytest_memfail.judges.rules.preference import find_preference
from pytest_memfail.judges.rules.rule import find_rule
from pytest_memfail.judges.rules.text import TextCache
from pytest_memfail.judges.rules.view import View

Protocol = Literal["ours", "paper"]
WEIGHS_SYNONYMS: Final = frozenset(("link", "rule", "persona", "fact"))
"""Kinds that look for the synonyms of what they need themselves: not every word of an essay may stand for all of its own."""
SHOWN_VIEWS: Final = 16
"""How many views of shown memories are kept: systems that show everything show the same again and again."""


class RulesJudge:
    """Decides storage, summary, retrieval and the option letter: offline, at once, and always alike."""

    inline = True

    def __init__(self, protocol: Protocol = "ours") -> None:
        if protocol not in get_args(Protocol):
            raise ValueError(f"got protocol {protocol!r}, expected one of {', '.join(get_args(Protocol))}")
        self.protocol = protocol
        self._cache = TextCache()
        self._stores: WeakKeyDictionary[Listing, View] = WeakKeyDictionary()
        self._shown: OrderedDict[tuple[tuple[str, str | None], ...], View] = OrderedDict()

    def storage(self, evidence: Evidence, store: Listing) -> StageResult:
        """Is some version of the fact anywhere in the store (paper, section 3.2, permissive)?"""
        finding = self._find(evidence, self._store(store))
        if finding.present and not finding.faithful:  # what it lacks is the summary stage's to say
            finding = replace(finding, reason="some version of it is stored")
        return _result(finding, passed=finding.present)

    def summary(self, evidence: Evidence, store: Listing) -> StageResult:
        """Does the store keep what a right answer needs?"""
        finding = self._find(evidence, self._store(store))
        return _result(finding, passed=finding.faithful)

    def retrieval(
        self,
        evidence: Evidence,
        question: Question,  # noqa: ARG002 - the protocol's; what is needed of a fact stands in the evidence
        shown: Sequence[Memory],
    ) -> StageResult:
        """Can the fact be recovered from the memories shown, and from them alone?"""
        if not shown and not (evidence.kind == "fact" and read_fact(evidence).retraction):
            return StageResult("failed", "no memory was shown", confidence=1.0)
        finding = self._find(evidence, self._view_of_shown(tuple(shown)), shown=True)
        return _result(finding, passed=finding.present and finding.faithful)

    def answer(
        self,
        question: Question,
        evidence: Sequence[Evidence],  # noqa: ARG002 - the protocol's; a letter needs none
        reply: Reply | None,
    ) -> StageResult:
        """Is the option letter right? Free text is left ungraded (paper, section 4)."""
        if reply is None:
            return StageResult("ungraded", "no test-taker: give --memfail-model")
        if question.answer_format != "letter":
            return StageResult("ungraded", "the rules cannot judge free text: give --memfail-judge a model")
        letter = parse_letter(reply.text)
        if letter is None:
            return StageResult(
                "failed", f"no option letter in the reply; {question.correct_option} is right", confidence=1.0
            )
        if letter == question.correct_option:
            return StageResult("passed", f"chose {letter}, which is right", confidence=1.0)
        return StageResult("failed", f"chose {letter}, but {question.correct_option} is right", confidence=1.0)

    def _store(self, store: Listing) -> View:
        view = self._stores.get(store)
        if view is None:
            view = self._stores[store] = _view(store.memories, self._cache)
        return view

    def _view_of_shown(self, shown: tuple[Memory, ...]) -> View:
        key = tuple((memory.text, memory.timestamp) for memory in shown)
        view = self._shown.get(key)
        if view is None:
            view = self._shown[key] = _view(shown, self._cache, "shown")
            if len(self._shown) > SHOWN_VIEWS:
                self._shown.popitem(last=False)
        self._shown.move_to_end(key)
        return view

    def _find(self, evidence: Evidence, view: View, *, shown: bool = False) -> Finding:
        known = view.results.get((evidence, shown))
        if known is None:
            known = self._look(evidence, view, shown=shown)
            if known.present and not known.faithful and self.protocol == "ours" and self._misreads(evidence, known):
                # What the rules hold against the source itself must not be held against a store.
                known = replace(
                    known, faithful=True, reason=f"stored; the rules cannot tell more ({known.reason})", confidence=0.3
                )
            view.results[evidence, shown] = known
        assert isinstance(known, Finding)
        return known

    def _misreads(self, evidence: Evidence, finding: Finding) -> bool:
        """Whether the source, stored word for word, would be found to have the same fault."""
        source = self._look(evidence, self._view_of_shown((Memory(evidence.source),)), shown=False)
        return not source.faithful and source.fault == finding.fault

    def _look(self, evidence: Evidence, view: View, *, shown: bool) -> Finding:
        if evidence.kind not in WEIGHS_SYNONYMS:
            view = view.seen_for(stated_keys(evidence))
        finding = self._look_generally(evidence, view, shown=shown)
        # The ends of a link, a preference and a state are looked for in all their wordings at once.
        if evidence.details and evidence.kind not in ("link", "preference", "fact"):
            finding = refine(evidence, view, finding)
        return exchanged(evidence, view, finding) if finding.faithful else finding

    def _look_generally(self, evidence: Evidence, view: View, *, shown: bool) -> Finding:
        if evidence.kind == "rule":
            return find_rule(evidence, view, self.protocol)
        if evidence.kind == "preference":
            return find_preference(evidence, view, self.protocol, shown=shown)
        if evidence.kind == "persona":
            return find_persona(evidence, view, self.protocol, shown=shown)
        if evidence.kind == "link":
            return find_link(evidence, view, self.protocol)
        return find_fact(evidence, view, self.protocol)


def _view(memories: Sequence[Memory], cache: TextCache, held: Literal["stored", "shown"] = "stored") -> View:
    return View([memory.text for memory in memories], cache, [memory.timestamp for memory in memories], held)


def _result(finding: Finding, *, passed: bool) -> StageResult:
    return StageResult(
        "passed" if passed else "failed",
        finding.reason,
        finding.entries,
        finding.found,
        () if passed else finding.missing,
        finding.reported,
        finding.confidence,
        None if passed else finding.label,
        passed and finding.vacuous,
    )
