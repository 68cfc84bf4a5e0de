import triton
import triton.language as tl


@triton.jit
def transpose(in_ptr, out_ptr, rows, columns, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(in_ptr + row.to(tl.int64)[:, None] * columns + column[None, :], mask=inside)
    tl.store(out_ptr + column.to(tl.int64)[:, None] * rows + row[None, :], tile.T, mask=inside.T)
