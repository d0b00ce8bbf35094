"""Format failures and summaries as plain text of at most 100 columns, readable without colour."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Final

from pytest_memfail.core import (
    CORRECT,
    DATE_LOST,
    FACT_HELD,
    FAILURES,
    GRADED,
    MEANINGS,
    MEMORY_FAILURES,
    NO_ANSWER,
    NOT_RETRIEVED,
    REASONING_ERROR,
    STAGES,
    STATES,
    SUMMARY_ERROR,
    UNGRADED,
    UNSURE,
    WRONGLY_HELD,
    FactVerdict,
    Kept,
    Memory,
    QuestionRecord,
    counted,
    one_line,
)
from pytest_memfail.records import Rate
from pytest_memfail.report.excerpts import excerpt, mark, stored_excerpt
from pytest_memfail.report.suites import suite_lines
from pytest_memfail.report.tables import table
from pytest_memfail.results import Block, Summary, Tally
from pytest_memfail.safety import escape_controls

WIDTH: Final = 100
LABEL: Final = 11
MAX_LINES: Final = 25
SHORT_LINES: Final = 12
"""Lines of a failure at the end of a run; with `-v` it has up to `MAX_LINES`."""
CUTS: Final = ((2, 2, 3), (1, 2, 3), (1, 1, 2), (1, 1, 1))
"""How a failure is cut until it fits: failed facts, lines of question and expected answer, lines of each other field."""
SKIPPED: Final = " (pytest says skipped)"
"""How pytest counts questions that were left open, said once below the table."""
RATE_HEAD: Final = (f"{'':>4} {{:<15}}{'':>5}", f"{'n':>4} {'[95 % interval]':<15}{'of':>5}")
"""The head of the columns before the counts; the name of the rate goes into the first line."""
INGESTION: Final = ("memory", "assistant")
"""The stages of model calls that fill a store."""
INFERENCE: Final = ("memory search", "test_taker")
"""The stages of model calls that answer its questions."""
OFFLINE: Final = "offline"
LEAST_OF_STYLE: Final = 30
"""The fewest labelled facts for a share of their own: of fewer, chance moves it by more than 18 points."""
MIN_RETRIEVED: Final = 3
"""The minimum number of lines for the retrieved entries; one less in a short failure."""


def headline(question: QuestionRecord) -> str:
    """Return a failure in a few words, without the verdict. What was lost comes first: pytest cuts the text short."""
    verdict = question.verdict
    facts = [fact for fact in question.facts if fact.verdict == verdict]
    if not facts:
        return MEANINGS[verdict]
    fact = facts[0]
    reason = fact.deciding.reason or MEANINGS[verdict]
    if verdict == SUMMARY_ERROR:
        reason = _lost_first(reason, fact.missing)
    more = f" (and {len(facts) - 1} more of {len(question.facts)} facts)" if len(facts) > 1 else ""
    return f"{one_line(reason, 160)}{more}"


def _lost_first(reason: str, missing: Sequence[str]) -> str:
    """Return the reason with the lost details in front of it.

    >>> _lost_first("'otterbank' is stored, but without 'Wi-Fi'", ["Wi-Fi"])
    "lost 'Wi-Fi'; 'otterbank' is stored"
    """
    # a detail quoted before the word "stored" is in the store, for example as disliked or without its link
    stored = reason.partition("stored")[0]
    lost = [
        detail for detail in missing if detail.strip() and not any(q in stored for q in (f"'{detail}'", repr(detail)))
    ]
    if not lost:
        return reason
    quoted = ", ".join(f"'{detail}'" for detail in lost)
    rest = re.sub(rf"(, but)? without {re.escape(quoted)}$", "", reason)
    return f"lost {quoted}" if rest in ("", "stored") else f"lost {quoted}; {rest}"


def why(question: QuestionRecord) -> str:
    """Return what was lost or what broke, without the verdict; empty if the question did not fail."""
    if question.error is not None:
        return question.error.message
    return headline(question) if question.failed else ""


def failure(question: QuestionRecord, rerun: str, *, short: bool = False, brief: bool = False) -> list[str]:
    """Return a failed question in at most 25 lines, or 12 with `brief`; `rerun` is the command that asks it again.

    With `short`, return only the question and the reason.
    """
    if short:
        return [escape_controls(text) for text in _short(question, rerun)]
    most, least = (SHORT_LINES, MIN_RETRIEVED - 1) if brief else (MAX_LINES, MIN_RETRIEVED)
    ends = _field("row", f"{question.row}  k={question.k}", 1) if question.row and not brief else []
    ends += [f"{'rerun':<{LABEL}}{rerun}"]
    room = most - len(ends) - min(least, max(1, len(question.retrieved)))
    lines: list[str] = []
    for facts, asked, each in CUTS:
        lines = list(_question(question, facts, asked, each))
        if len(lines) <= room:
            break
    else:
        lines = [*lines[: room - 1], f"{'':<{LABEL}}…"]
    lines = [*lines, *_retrieved(question.retrieved, most - len(lines) - len(ends)), *ends]
    return [escape_controls(text) for text in lines]


def _short(question: QuestionRecord, rerun: str) -> Iterator[str]:
    yield _named(question)
    yield from _field("question", _asked(question), 2)
    yield from _field("reason", headline(question), 3)
    yield f"{'rerun':<{LABEL}}{rerun}"


def _named(question: QuestionRecord) -> str:
    """Return the verdict with its meaning, and with the label of a suite's question."""
    label = f" ({question.label})" if question.part and question.label else ""
    return f"{question.verdict}{label}: {MEANINGS[question.verdict]}"


def _asked(question: QuestionRecord) -> str:
    return question.text.partition("\n\nOptions:")[0]


def _question(question: QuestionRecord, most_facts: int, asked: int, each: int) -> Iterator[str]:
    verdict, facts = question.verdict, question.facts
    yield _named(question)
    yield from _field("question", _asked(question), asked)
    yield from _field("expected", "; ".join(question.gold), asked)
    if question.repeats:
        yield from _field("repeats", ", ".join(question.repeats), 1)
    failed = sorted(
        (fact for fact in facts if fact.verdict not in (CORRECT, UNGRADED)), key=lambda fact: fact.verdict != verdict
    )
    if len(facts) > 1:
        yield from _field("facts", ", ".join(f"{i} {fact.verdict}" for i, fact in enumerate(facts, 1)), 1)
    shown = failed[:most_facts] or (list(facts[:1]) if verdict == REASONING_ERROR else [])
    for fact in shown:
        yield from _fact(fact, each)
    if len(failed) > len(shown):
        yield from _field("", f"… and {len(failed) - len(shown)} more that failed", 1)
    if question.reply is not None:
        yield from _field("answer", question.reply, each)
        if question.answer.reason:
            yield from _field("", question.answer.reason, min(2, each))


def _fact(fact: FactVerdict, each: int) -> Iterator[str]:
    stage, result = fact.decided_by, fact.deciding
    if fact.verdict != NOT_RETRIEVED:  # otherwise the store has it verbatim
        # lost details are marked in the source, because the store no longer has them
        yield from _field("said", mark(excerpt(fact.source, fact.missing, fact.text), fact.missing), min(2, each))
    passed = ", ".join(f"{name} ok" for name in STAGES[: STAGES.index(stage)])
    confidence = result.confidence
    sure = f"unsure, {confidence:.2f}" if confidence is not None and confidence < UNSURE else ""
    yield from _field(stage, "; ".join(part for part in (passed, result.reason, sure) if part), each)
    if fact.kept is not None:
        texts = " / ".join(excerpt(text, (), fact.text) for text in fact.kept.texts)
        yield from _field("kept of it", kept_of_it(fact.kept) + (f": {texts}" if texts else ""), min(2, each))
    for text in fact.closest[:1]:
        if fact.kept is not None and text in fact.kept.texts:
            continue
        label = "closest" if fact.verdict == "not_stored" else "stored"
        yield from _field(label, stored_excerpt(fact, text), min(2, each))
    if fact.verdict == NOT_RETRIEVED:
        ranks = [f"rank {rank}" for rank in fact.ranks if rank is not None]
        lacks = "without its day: return its timestamp" if fact.label == DATE_LOST else "but not enough of it"
        where = f"shown at {', '.join(ranks)}, {lacks}" if ranks else "not among the entries shown"
        yield from _field("", f"the stored entry is {where}", 1)


def kept_of_it(kept: Kept) -> str:
    """Return how much the store kept of the conversation of a fact that is not stored."""
    if not kept.entries:
        return "nothing that shares its rare words" if kept.is_likely else "nothing"
    return f"{counted(len(kept.entries), 'entry')}{' (likely)' if kept.is_likely else ''}"


def _retrieved(memories: Sequence[Memory], room: int) -> list[str]:
    if not memories:
        return _field("retrieved", "nothing", 1)
    lines = []
    for rank, memory in enumerate(memories, 1):
        score = "" if memory.score is None else f" {memory.score:7.3f}"
        label = "retrieved" if rank == 1 else ""
        head = f"{label:<{LABEL}}{rank}.{score} "
        lines.append(head + one_line(memory.text, WIDTH - len(head)))
    if len(lines) > max(room, 1):
        kept = max(room - 1, 1)
        lines = [*lines[:kept], f"{'':<{LABEL}}… and {len(lines) - kept} more"]
    return lines


def _field(label: str, text: str, most: int) -> list[str]:
    """Return the text beside its label, on at most `most` lines."""
    words = one_line(text, most * (WIDTH - LABEL) - most).split(" ")
    lines, current = [], ""
    for word in words:
        if current and len(current) + 1 + len(word) > WIDTH - LABEL:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    lines.append(current)
    lines = [one_line(part, WIDTH - LABEL) for part in lines]
    if len(lines) > most:
        lines = [*lines[: most - 1], one_line(" ".join(lines[most - 1 :]), WIDTH - LABEL)]
    return [f"{label if i == 0 else '':<{LABEL}}{part}" for i, part in enumerate(lines)]


def summary(results: Summary, *, full: bool = False) -> list[str]:
    """Return the results of a run, the table of verdicts last."""
    lines = [*details(results, full=full), "", *verdict_table(results)]
    return [*lines, f"record: {results.record}"] if results.record else lines


def details(results: Summary, *, full: bool = False) -> list[str]:
    """Return the results without the table of verdicts: single facts, tokens, stores, models, warnings."""
    lines = list(_shown(results))
    lines += abstention(results)
    lines += vacuous_passes(results)
    lines += [f"repeats: {said}" for said in map(steadiness, results.tasks) if said]
    if full:
        for tally in results.tasks:
            if tally.facts:
                lines += _facts(tally)
    lines += _stores(results)
    if results.models:
        lines += ["", *model_table(results.models), *costs_by_phase(results)]
    if results.unsure:
        lines += textwrap.wrap(unsure(results), WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    for warning in results.warnings:
        lines += textwrap.wrap(f"warning: {warning}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def unsure(results: Summary) -> str:
    """Return how many verdicts the judge is unsure of, how often such verdicts are right, and what to do about them."""
    share = unsure_but_right(results.judge, (tally.name for tally in results.tasks))
    return (
        f"{results.judge or OFFLINE} judge unsure of {results.unsure} of {results.total.n} verdicts (confidence below "
        f"{UNSURE}){share}; --memfail-judge=offline+MODEL asks a model for those"
    )


def unsure_but_right(judge: str, tasks: Iterable[str]) -> str:
    """Return how often unsure verdicts of a judge on labelled facts of these tasks are right; empty if that is not known.

    The styles of memories with the lowest and the highest share stand beside it; those with too few facts are left out.
    """
    known = json.loads(resources.files(__package__).joinpath("unsure.json").read_bytes()).get(judge, {})
    right, among = Counter[str](), Counter[str]()
    for task in tasks:
        for style, (accepted, n) in known.get(task, {}).items():
            right[style] += accepted
            among[style] += n
    if not among:
        return ""
    styles = sorted(
        (name for name, n in among.items() if name and n >= LEAST_OF_STYLE), key=lambda s: right[s] / among[s]
    )
    shares = [f"{100 * right[style] / among[style]:.0f} % of {among[style]} in {style} memories" for style in styles]
    by_style = f" ({shares[0]}, {shares[-1]})" if len(shares) > 1 else ""
    n = among.total()
    return (
        f"; such verdicts are right for {100 * right.total() / n:.0f} % of {n} labelled facts of these tasks{by_style}"
    )


def vacuous_passes(results: Summary) -> list[str]:
    """Return a line for each task with vacuous passes."""
    how = "counted as correct" if results.protocol == "paper" else "left out of the rates"
    return [
        f"vacuous passes: {tally.vacuous} in {tally.name}, {how} (nothing was there to misuse)"
        for tally in results.tasks
        if tally.vacuous
    ]


def estimates(results: Summary) -> list[str]:
    """Return a line about the questions that a judge only estimated: how many are in no rate, and what the rate may be."""
    rate = results.total.memory_held
    if not rate.estimated:
        return []
    least, most = (100 * bound for bound in rate.bounds)
    return [
        f"in no rate: {rate.estimated} of {counted(results.total.n, 'question')}, which the judge only estimates; with them, "
        f"memory held is between {least:.1f} and {most:.1f} % (--memfail-judge=MODEL or offline+MODEL decides)"
    ]


def abstention(results: Summary) -> list[str]:
    """Return a line for each task with misleading questions: how many were not answered from somebody else's details."""
    said = []
    for tally in results.tasks:
        if not tally.misleading:
            continue
        if not results.answered or not tally.abstention.n:
            said.append(
                f"abstention not judged: {counted(tally.misleading, 'misleading question')} of {tally.name}, not in memory held"
            )
            continue
        rate, rest = tally.abstention, tally.misleading - tally.abstention.n
        without = f" ({rest} more have no verdict)" if rest else ""
        said.append(
            f"abstention {100 * rate.count / rate.n:.1f} % [{100 * rate.low:.0f}, {100 * rate.high:.0f}] of {rate.n} misleading "
            f"questions of {tally.name}{without}"
        )
    return said


def occurring(tally: Tally) -> list[str]:
    """Return the states that occur; their counts add up to n."""
    return [state for state in STATES if tally.states[state]]


def steadiness(tally: Tally) -> str:
    """Return how many repeated questions got different verdicts; empty if no question was repeated."""
    if not tally.repeated:
        return ""
    return (
        f"{tally.unsteady} of {tally.repeated} in {tally.name} changed their verdict between repeats "
        f"({_percent(tally.flip_rate).strip()} %)"
    )


def verdict_table(results: Summary) -> Iterator[str]:
    """Yield a row per task, or per task and k if there are several k, with its rate and the number of questions in each state.

    The rate stands beside its own n: it leaves out questions that the counts include. Under the total stands the mean over
    tasks. Without room for all states, those that are neither right nor wrong have a table of their own.
    """
    wide, columns = _name_width(results), _columns(results)
    least = len(columns)
    if sum(map(_width, columns)) > WIDTH - wide - len(RATE_HEAD[1]):
        least = sum(state in GRADED for state in columns)
    for number, block in enumerate(results.tables):
        if number:
            yield ""
        head = _heads(RATE_HEAD, columns[:least])
        yield f"{block.suite if len(results.tables) > 1 else '':<{wide}}{head[0].format(results.measure + ' %')}".rstrip()
        yield f"{'task':<{wide}}{head[1]}"
        for name, tally in _rows_of(block, results):
            if tally is None:
                yield name
                continue
            rate = results.success(tally)
            yield f"{name:<{wide}}{tally.n:>4} {_percent(rate):<15}{rate.n:>5}{_counts(tally, columns[:least])}"
        for name, mean in task_means(block, results):
            yield f"{name:<{wide}}{'':>4} {100 * mean:5.1f}"
        for suite in results.suites:
            if suite.name == block.suite:
                yield from suite_lines(suite, several_k=bool(results.by_k))
        if rest := columns[least:]:
            yield ""
            yield from (
                f"{name:<{wide}}{text}" for name, text in zip(("", "task"), _heads(("", ""), rest), strict=True)
            )
            yield from (
                f"{name:<{wide}}{_counts(tally, rest)}" if tally else name for name, tally in _rows_of(block, results)
            )
    for line in estimates(results):
        yield from textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    if NO_ANSWER in columns:
        yield f"no answer{SKIPPED}: every memory stage passed, no model answered (--memfail-model=NAME)"
    if UNGRADED in columns and results.replied and not results.answered:
        yield f"ungraded{SKIPPED}: the judge does not grade the answers (--memfail-judge=MODEL does)"
    elif UNGRADED in columns:
        yield f"ungraded{SKIPPED}: no judge decided a stage{'' if results.answered else ' (--memfail-judge=MODEL does)'}"


def _columns(results: Summary) -> list[str]:
    """Return the states that have a column: those that occur, and the failures that were looked for if there is room."""
    occur: list[str] = occurring(results.total)
    looked_for = {*MEMORY_FAILURES} - {WRONGLY_HELD} | {*((CORRECT, REASONING_ERROR) if results.answered else ())}
    columns: list[str] = [state for state in STATES if state in occur or state in looked_for]
    room = WIDTH - _name_width(results) - len(RATE_HEAD[1])
    return columns if sum(map(_width, columns)) <= room else occur


def _heads(first: tuple[str, str], columns: Sequence[str]) -> tuple[str, str]:
    """Return the two lines of a table's head, whose first columns are given."""
    words = [(*state.rpartition("_")[::2], _width(state)) for state in columns]
    upper, lower = ("".join(f"{word[i]:>{word[2]}}" for word in words) for i in (0, 1))
    return first[0] + upper, first[1] + lower


def _counts(tally: Tally, columns: Sequence[str]) -> str:
    return "".join(f"{tally.states[state]:>{_width(state)}}" for state in columns)


def task_means(block: Block, results: Summary) -> Iterator[tuple[str, float]]:
    """Yield the name and value of the mean over the tasks of a suite, at each k if there are several."""
    at_k = [(f"  k={k}", tallies) for k, tallies in results.by_k.items()]
    for name, tallies in at_k or [("", {tally.name: tally for tally in block.tasks})]:
        of = [tallies[tally.name] for tally in block.tasks if tally.name in tallies]
        if (mean := results.task_mean(of)) is not None:
            yield f"mean of {mean.tasks} tasks{name}", mean.value


def _name_width(results: Summary) -> int:
    """Return the width of the column of names: parts of some suites have long ones."""
    return max([22, *(len(name) for name, _ in _rows(results)), *(len(block.suite) for block in results.tables)])


def _rows(results: Summary) -> Iterator[tuple[str, Tally | None]]:
    """Yield the rows of all suites."""
    for block in results.tables:
        yield from _rows_of(block, results)


def _rows_of(block: Block, results: Summary) -> Iterator[tuple[str, Tally | None]]:
    """Yield the name and tally of each task or part and of the total; with several k, the name alone, then each k."""
    total = block.total if len(results.tables) > 1 else results.total
    for tally in (*block.tasks, *([total] if len(block.tasks) > 1 else [])):
        yield tally.name, None if results.by_k else tally
        for k, tallies in results.by_k.items():
            if tally.name in tallies:
                yield f"  k={k}", tallies[tally.name]


def _shown(results: Summary) -> Iterator[str]:
    """Yield the table of the single facts held and of the tokens shown."""
    wide = _name_width(results)
    # most systems show no entry twice
    repeats, is_compared = bool(results.total.duplicate_share), results.total.compared > 0

    def more(shown: str, compared: str, beyond: str, better: str) -> str:
        return f"{shown:>8}" * repeats + f"{compared:>9}{beyond:>9}{better:>7}" * is_compared

    yield (
        f"{'':<{wide}}{'':>5} {'facts held %':<16}{'tokens shown':>13}{'% of the':>10}{more('repeats', '', 'beyond', '')}"
    ).rstrip()
    yield (
        f"{'task':<{wide}}{'facts':>5} {'[95 % interval]':<16}{'per question':>13}{'store':>10}"
        f"{more('shown %', 'compared', 'verbatim', 'better')}"
    )
    for name, tally in _rows(results):
        if tally is None:
            yield name
            continue
        yield (
            f"{name:<{wide}}{tally.facts_held.n:>5} {_percent(tally.facts_held):<16}"
            f"{amount(tally.shown_tokens, exact=results.approximate is None):>13}{amount(tally.shown_share, 100):>10}"
            + more(amount(tally.duplicate_share, 100), *map(str, (tally.compared, tally.beyond, tally.better)))
        )


def amount(value: float | None, times: int = 1, *, exact: bool = True) -> str:
    """Return a mean with one decimal below 100; a dash if nothing was counted, with `≈` if the count is approximate."""
    if value is None:
        return "-"
    value *= times
    return ("" if exact else "≈") + (f"{value:.1f}" if value < 100 else f"{value:.0f}")


def tokens_each(tokens: float | None, memories: int, *, exact: bool) -> str:
    """Return the mean tokens per memory with one decimal; a dash if there are none."""
    return f"{'' if exact else '≈'}{tokens / memories:.1f}" if tokens is not None and memories else "-"


def _width(verdict: str) -> int:
    return max(len(part) for part in verdict.rpartition("_")) + 1


def _percent(rate: Rate) -> str:
    if rate.value is None:
        return "    -"
    return f"{100 * rate.value:5.1f} [{100 * rate.low:.0f}, {100 * rate.high:.0f}]"


def _facts(tally: Tally) -> Iterator[str]:
    for stratum, verdicts in tally.facts.items():
        counts = ", ".join(f"{verdicts[v]} {v}" for v in (FACT_HELD, *FAILURES, UNGRADED) if verdicts.get(v))
        yield f"facts of {tally.name}, {stratum}: {counts}"


def _stores(results: Summary) -> Iterator[str]:
    figures = [store for store in results.stores if store.stores]
    if not figures:
        return
    yield ""
    yield from table(
        ["store", "conversations", "s each", "memories", "tokens each", "retrieve p50", "p95"],
        [
            (
                f.task,
                str(f.conversations),
                f"{f.fill_seconds / f.conversations:.4f}" if f.conversations else "-",
                str(f.memories),
                tokens_each(f.tokens, f.memories, exact=results.approximate is None),
                _ms(f.retrieve_p50),
                _ms(f.retrieve_p95),
            )
            for f in figures
        ],
        [22, 14, 10, 11, 13, 15, 13],
    )
    published = {tally.name.split(".")[0] for block in results.tables if block.stands_alone for tally in block.tasks}
    for f in figures:
        if f.task in published:
            adding, retrieving = (seconds / 60 / f.stores for seconds in (f.fill_seconds, f.retrieve_seconds))
            yield (
                f"{f.task}, minutes each of {counted(f.stores, 'store')}: adding {adding:,.4f}  retrieving {retrieving:,.4f}  "
                f"together {adding + retrieving:,.4f}"
            )
    if restored := sum(f.restored for f in figures):
        yield f"restored, not filled: {restored} of {sum(f.stores for f in figures)} stores (seconds are of restoring)"


def model_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of calls, tokens and cost by stage and model."""
    lines = [_model_row(f"{row['stage']} by {row['model']}", row, row["cost"]) for row in rows]
    if len(rows) > 1:
        names = ("calls", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens")
        total = {name: sum(row[name] for row in rows) for name in names}
        costs = [row["cost"] for row in rows if row["calls"]]
        lines.append(_model_row("all", total, None if None in costs else sum(costs)))
    head = ["model calls", "calls", "cache hits", "tokens in", "(cached)", "out", "USD"]
    yield from table(head, lines, [36, 8, 12, 13, 11, 9, 10])
    if estimated := sum(row.get("estimated", 0) for row in rows):
        yield f"{counted(estimated, 'reply')} reported no usage; tokens are estimated, and a budget is charged the estimate"


def costs_by_phase(results: Summary) -> list[str]:
    """Return what a store costs, apart from its judge: to fill it, and to search it and answer its questions.

    Stores that were restored cost nothing to fill. A partial sum would look complete, so an unknown price makes it unknown.
    """
    stores = sum(figures.stores for figures in results.stores)
    filled = stores - sum(figures.restored for figures in results.stores)
    said = []
    for name, stages, n in (("ingestion", INGESTION, filled), ("inference", INFERENCE, stores)):
        rows = [row for row in results.models if row["stage"] in stages]
        costs = [row["cost"] for row in rows if row["calls"]]
        if rows and n:
            tokens = sum(row["prompt_tokens"] + row["completion_tokens"] for row in rows) / n
            usd = "unknown cost" if None in costs else f"{sum(costs) / n:.4f} USD"
            said.append(f"{name} {usd}, {tokens:,.0f} tokens")
    return [f"per store: {'; '.join(said)}"] if said else []


def model_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return calls, tokens and cost by stage and model in one sentence; empty if no model was called."""
    said = []
    for row in rows:
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        cost = "unknown cost" if row["cost"] is None and row["calls"] else f"{row['cost'] or 0:.4f} USD"
        kept = f" and {row['cache_hits']} from the cache" if row["cache_hits"] else ""
        about = " (estimated in part)" if row.get("estimated") else ""
        said.append(f"{row['stage']} by {row['model']}: {row['calls']}{kept}, {tokens} tokens{about}, {cost}")
    return f"model calls: {'; '.join(said)}" if said else ""


def _model_row(name: str, row: Mapping[str, Any], cost: float | None) -> list[str]:
    # an unknown price is not 0, which would mean free
    usd = "unknown" if cost is None else f"{cost:.4f}"
    counts = (row[key] for key in ("calls", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens"))
    return [one_line(name, 35), *map(str, counts), usd]


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.1f} ms"
