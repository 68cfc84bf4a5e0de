"""Attention, forward: softmax(Q K^T / sqrt(D)) V, with the sums of the softmax carried along (online), so
that no matrix of scores is ever in memory.

  q, out: batch x heads x length x D     k, v: batch x kv_heads x length x D      halves, row-major

A program has TILE_M rows of one head's queries and goes through that head's keys and values TILE_N at a
time. heads / kv_heads query heads share one head of keys and values (MHA: 1; GQA: more). With CAUSAL a
row sees the keys up to its own place, so programs further down have more to do.

All programs of a head read all of its keys and values: an L2 that has one head's programs at a time
fetches them once. In which order the programs of the grid are numbered decides that:
    BLOCKS_FIRST = 0: head-first, a head's row blocks follow each other in dispatch order
    BLOCKS_FIRST = 1: block-first, the heads follow each other, each with the same row block
On a chiplet GPU neighbours are on different dies, so head-first spreads each head over all L2s.

    python3 kernels/attention/attention.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, heads, kv_heads, length, scale,
              D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
              CAUSAL: tl.constexpr, BLOCKS_FIRST: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(length, TILE_M)
    if BLOCKS_FIRST:
        head = pid % heads
        block = pid // heads % blocks
    else:
        block = pid % blocks
        head = pid // blocks % heads
    sample = pid // (blocks * heads)
    kv_head = sample * kv_heads + head // (heads // kv_heads)
    q_base = (sample * heads + head).to(tl.int64) * length * D
    kv_base = kv_head.to(tl.int64) * length * D

    row = block * TILE_M + tl.arange(0, TILE_M)
    d = tl.arange(0, D)
    own = q_base + row[:, None] * D + d[None, :]
    q = tl.load(q_ptr + own, mask=row[:, None] < length, other=0)
    greatest = tl.full((TILE_M,), -float("inf"), tl.float32)
    total = tl.zeros((TILE_M,), tl.float32)
    sums = tl.zeros((TILE_M, D), tl.float32)
    end = min(length, (block + 1) * TILE_M) if CAUSAL else length
    for first in range(0, end, TILE_N):
        key = first + tl.arange(0, TILE_N)
        there = key < length
        k = tl.load(k_ptr + kv_base + key[None, :] * D + d[:, None], mask=there[None, :], other=0)
        seen = there[None, :]
        if CAUSAL:
            seen = seen & (key[None, :] <= row[:, None])
        scores = tl.where(seen, tl.dot(q, k) * scale, -float("inf"))  # as powers of two
        higher = tl.maximum(greatest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - higher[:, None])
        fading = tl.exp2(greatest - higher)
        v = tl.load(v_ptr + kv_base + key[:, None] * D + d[None, :], mask=there[:, None], other=0)
        sums = tl.dot(weights.to(tl.float16), v, sums * fading[:, None])
        total = total * fading + tl.sum(weights, axis=1)
        greatest = higher
    tl.store(out_ptr + own, (sums / total[:, None]).to(tl.float16), mask=row[:, None] < length)


def check(**settings):
    import numpy

    before, after = suite.run(__file__, **settings)
    q, k, v = (before[n].astype(numpy.float64) for n in ("q_ptr", "k_ptr", "v_ptr"))
    group = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k, group, axis=1), numpy.repeat(v, group, axis=1)
    scores = q @ k.transpose(0, 1, 3, 2) / numpy.sqrt(q.shape[-1])
    if settings.get("CAUSAL"):
        scores = numpy.where(numpy.tril(numpy.ones(scores.shape[-2:], bool)), scores, -numpy.inf)
    weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return suite.difference(after["out_ptr"], weights / weights.sum(axis=-1, keepdims=True) @ v)


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    sizes = [{"batch": 1, "heads": 2, "kv_heads": 2, "length": 200},
             {"batch": 2, "heads": 4, "kv_heads": 2, "length": 77},
             {"batch": 1, "heads": 3, "kv_heads": 3, "length": 150, "CAUSAL": 1, "BLOCKS_FIRST": 1}]
    suite.main("attention", check, sizes, allowed=2e-3)
