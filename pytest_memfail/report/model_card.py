"""Write the model card of the offline judge: its training data, and its agreement with labels by task, style, confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_memfail.report.tables import markdown_table

COLUMNS: Final = (
    ("facts", "facts"),
    ("accepted", "accepted"),
    ("interval", "95 % interval"),
    ("ok_versus_failure", "ok against failure"),
    ("macro_f1", "macro-F1"),
    ("good_failed", "good failed"),
    ("damaged_passed", "damaged passed"),
)
SPLITS: Final = {
    "test": "rows and annotators that were not used to fit or choose anything",
    "dev": "rows and annotators used for design choices, and the cases on shipped rows",
}


def model_card(header: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the card as Markdown.

    Args:
        header: the header of the weights.
        figures: the result of `measure` for each split that was measured.
    """
    return "\n".join(_lines(header, figures)) + "\n"


def _lines(header: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    with_encoder = "encoder" in header
    yield "# Model card of the offline judge" + " with the encoder" * with_encoder
    yield ""
    yield f"`tools/train_judge.py{' --encoder' * with_encoder}` writes this page together with the weights; do not edit it."
    yield ""
    yield (
        f"* **Data**: {header['train_facts']:,} labelled facts on {header['train_rows']:,} rows of "
        "`datasets/calibration/train.jsonl`" + " and, at a lower weight, `more/train.jsonl`" * with_encoder
    )
    yield f"  (digest of the data: `{header['data'][:16]}`). Planted faults on the same rows and {header['near_pairs']:,} pairs of"
    yield "  near copies, one of which keeps the fact (`more/near.jsonl`), count less."
    yield "* **Model**: boosted trees and a logistic regression, averaged, for two questions: do the memories keep the claim,"
    yield "  and if not, is anything of it there? Calibrated on folds that were not fitted on."
    if with_encoder:
        yield "* **Encoder**: all-MiniLM-L6-v2, not trained further, as 8-bit numbers."
        yield (
            f"* **Network** that reads its vectors: trained on the same facts and {header['network_pairs']:,} contrast pairs, "
            "near copies among them."
        )
        yield "  The trees are fitted to what networks say that were not trained on the row"
        yield f"  (digest of the files of encoder and network: `{header['encoder']}`)."
    yield f"* **Seed** {header['seed']}, scikit-learn {header['scikit-learn']}."
    for split, about in SPLITS.items():
        if split in figures:
            yield ""
            yield f"## {split}: {about}"
            yield ""
            yield from _table(figures[split])
            yield ""
            yield from _bands(figures[split])


def _table(found: Mapping[str, Any]) -> Iterator[str]:
    groups = [("all", found["overall"]), *found["tasks"].items(), *found["styles"].items()]
    rows = [[label, *(_cell(key, row[key]) for key, _ in COLUMNS)] for label, row in groups]
    yield from markdown_table(["", *(title for _, title in COLUMNS)], rows)


def _bands(found: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        [f"{band['from']:.2f} to {band['to']:.2f}", f"{band['facts']:,}", f"{100 * band['accepted']:.1f}"]
        for band in found["bands"]
    ]
    yield from markdown_table(["confidence", "facts", "accepted"], rows)


def _cell(key: str, value: Any) -> str:
    if value is None:
        return "-"
    if key == "facts":
        return f"{value:,}"
    if key == "interval":
        return f"{100 * value[0]:.1f} to {100 * value[1]:.1f}"
    return f"{value:.2f}" if key == "macro_f1" else f"{100 * value:.1f}"
