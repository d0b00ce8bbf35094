"""Tokens are set beside their counterparts as the network of the encoder reads them; no weights are needed for that."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_memfail.judges.encoder import (
    CLAIM_TOKENS,
    PASSAGE_TOKENS,
    READINGS,
    Passage,
    beside,
    inputs_of,
    readings,
)

MARKS = np.array([[0.0, 0.0], [0.25, 0.0], [0.5, 0.0], [1.0, 1.0]], dtype=np.float32)
"""Rarity and digits of four tokens."""


def passage(*ids: int) -> Passage:
    """Return a text whose tokens have a vector of their own each, by their number."""
    vectors = np.eye(4, dtype=np.float16)[list(ids)].reshape(len(ids), 4)
    return Passage(np.array(ids, dtype=np.int64), vectors, vectors, np.ones(4))


def found_in(claim: Passage, source: Passage, *held: Passage, best: int = 0):
    """Return the positions, with similarity 1 for the same token and 0 for others."""
    ours, theirs = (np.concatenate([text.high for text in texts]) for texts in ((claim, source), held))
    return beside([claim, source], held, ours.astype(float) @ theirs.T.astype(float), best)


def test_each_token_stands_beside_the_closest_one_of_the_other_side():
    found = found_in(passage(1, 2), passage(3), passage(2, 0), passage(3, 1))
    # positions: claim 0 1, source 2, first passage 3 4, second 5 6
    assert found.own.tolist() == [0, 1, 2, 3, 4]
    assert found.kinds.tolist() == [0, 0, 1, 2, 2]
    assert found.in_best[:3].tolist() == [3, 3, 3]  # only token 2 is there; the others take the first
    assert found.in_all[:3].tolist() == [6, 3, 5]
    assert found.in_best[3:].tolist() == found.in_all[3:].tolist() == [1, 0]


def test_long_texts_are_cut():
    long = passage(*[1] * 200)
    found = found_in(long, long, passage(0), long, best=1)
    assert np.bincount(found.kinds).tolist() == [CLAIM_TOKENS, CLAIM_TOKENS, PASSAGE_TOKENS]
    assert found.own[CLAIM_TOKENS] == 200  # the source begins after all tokens of the claim
    assert found.own[2 * CLAIM_TOKENS] == 401  # after claim, source and the first passage


@pytest.mark.parametrize(("claim", "held"), [((), (1,)), ((1,), ())])
def test_a_side_without_tokens_is_not_read(claim, held):
    assert found_in(passage(*claim), passage(), passage(*held)) is None


def test_the_inputs_are_the_vectors_and_what_the_tokens_share():
    texts = [passage(3), passage(), passage(1, 3)]
    inputs = inputs_of(found_in(texts[0], texts[1], texts[2]), texts, MARKS)
    assert inputs["high"].shape == inputs["low"].shape == (3, 3, 4)
    assert inputs["high"].dtype == np.float32
    # rarity and digit of the token and both counterparts; the same token, the same one, the same place
    assert inputs["marks"][0].tolist() == [1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert inputs["marks"][1].tolist() == [0.25, 1, 1, 0, 1, 1, 0, 0, 1]
    assert inputs["kinds"].tolist() == [0, 2, 2]
    assert inputs["kinds"].dtype == np.int64


def test_the_readings_are_log_odds():
    kept, absent = readings(2.0, 1.0, 1.0)
    assert kept == pytest.approx(2 - 1 - np.log(2), abs=1e-3)
    assert absent == 0
    assert len(READINGS) == 2
    assert readings(0.0, -3.0, 3.0)[1] == 6
