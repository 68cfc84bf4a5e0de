"""Smith-Waterman: the best local alignment of two sequences, by the whole matrix of scores.

    score[i, j] = max(0, score[i-1, j-1] + (a[i] == b[j] ? 3 : -3), score[i-1, j] - 2,
                      score[i, j-1] - 2)                      with zeros outside

Tiles on one antidiagonal need nothing of each other: each antidiagonal of tiles is one launch, as in
smith_waterman.hip. Inside a tile of 64 x 64 the lanes, one a column, do the same: in step s lane t is at
row s - t. What it needs of its left neighbour that one computed one and two steps before; at the tile's
rim it reads the scores of earlier launches.

    python3 kernels/smith_waterman/smith_waterman.py      checks it on the virtual GPU against numpy"""

import triton
import triton.language as tl


@triton.jit
def smith_waterman(a_ptr, b_ptr, scores_ptr, greatest_ptr, length_a, length_b, diagonal, first, TILE: tl.constexpr):
    tile_row = first + tl.program_id(0)
    tile_column = diagonal - tile_row
    t = tl.arange(0, TILE)
    column = tile_column * TILE + t
    letter = tl.load(b_ptr + column, mask=column < length_b, other=0)
    last = tl.zeros((TILE,), tl.int32)  # of this lane's column: the row above
    left_before = tl.zeros((TILE,), tl.int32)  # what `left` was a step ago: the score between the two
    most = tl.zeros((TILE,), tl.int32)
    for step in range(0, 2 * TILE - 1):
        r = step - t
        row = tile_row * TILE + r
        active = (r >= 0) & (r < TILE) & (row < length_a) & (column < length_b)
        here = row.to(tl.int64) * length_b + column
        left = tl.gather(last, tl.maximum(t - 1, 0), axis=0)
        left = tl.where(t == 0, tl.load(scores_ptr + here - 1, mask=active & (t == 0) & (column > 0), other=0), left)
        top = active & (r == 0) & (row > 0)
        above = tl.where(r == 0, tl.load(scores_ptr + here - length_b, mask=top, other=0), last)
        corner = tl.load(scores_ptr + here - length_b - 1, mask=top & (column > 0), other=0)
        before = tl.where(r == 0, corner, left_before)
        aligned = before + tl.where(tl.load(a_ptr + row, mask=active, other=0) == letter, 3, -3)
        score = tl.maximum(tl.maximum(aligned, 0), tl.maximum(above, left) - 2)
        score = tl.where(active, score, 0)
        tl.store(scores_ptr + here, score, mask=active)
        most = tl.maximum(most, score)
        last = score
        left_before = left
    tile_columns = tl.cdiv(length_b, TILE)
    tl.store(greatest_ptr + tile_row * tile_columns + tile_column, tl.max(most, axis=0))


def check(length_a, length_b):
    import numpy
    import swizzleperf

    random = numpy.random.default_rng(1)
    a = random.integers(1, 5, length_a).astype(numpy.int8)
    b = random.integers(1, 5, length_b).astype(numpy.int8)
    scores = numpy.zeros((length_a, length_b), numpy.int32)
    rows, columns = -(-length_a // 64), -(-length_b // 64)
    greatest = numpy.zeros((rows, columns), numpy.int32)
    for diagonal in range(rows + columns - 1):
        first = max(0, diagonal - columns + 1)
        last = min(rows - 1, diagonal)
        swizzleperf.run(smith_waterman, (last - first + 1,), a, b, scores, greatest, length_a, length_b, diagonal, first,
                        TILE=64, num_warps=1)
    expected = numpy.zeros((length_a + 1, length_b + 1), numpy.int64)
    for i in range(length_a):
        for j in range(length_b):
            aligned = expected[i, j] + (3 if a[i] == b[j] else -3)
            expected[i + 1, j + 1] = max(0, aligned, expected[i, j + 1] - 2, expected[i + 1, j] - 2)
    wrong = abs(int(greatest.max()) - int(expected.max()))
    return max(wrong, suite.difference(scores, expected[1:, 1:]))


if __name__ == "__main__":
    import os
    import sys

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../common"))
    import suite

    suite.main("smith_waterman", check, [{"length_a": 100, "length_b": 150}], allowed=0)
