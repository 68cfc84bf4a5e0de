// The swizzles that people use, collected from libraries and papers, each as a short formula.
//
// Two roles. A die step undoes the hardware's dealing: AMD sends dispatch index p to die p mod X,
// so neighbours land on different dies with separate caches; a die step chooses which blocks a die
// gets and in what order. An in-die step then shapes the order in which a picture of rows x columns
// is walked, so that blocks in flight together read the same rows and columns.
//
// In-die steps see the launch as a picture: num_pid_x columns, num_pid_y * num_pid_z rows, or
// `cols` columns for a one-dimensional launch whose kernel works out tiles itself (blocks beyond
// the last whole row then stay where they are). Everything here is a bijection on every grid unless
// its family says otherwise; what is textbook only for powers of two (Morton, Hilbert) is applied
// inside the square tiles that fit, and what is left over is walked by columns.

#include "swizzles/families.h"

namespace swizzleperf {
namespace {

constexpr std::int64_t kMost = 1 << 20;

constexpr std::string_view kIdentity = "pid = pid;\n";

// --- die steps ---

constexpr std::string_view kDieContiguous = R"(die = pid % num_xcds;
turn = pid / num_xcds;
share = num_blocks / num_xcds;
extra = num_blocks % num_xcds;
pid = die * share + min(die, extra) + turn;
)";

constexpr std::string_view kDieContiguousSimple = R"(die = pid % num_xcds;
turn = pid / num_xcds;
pid = die * (num_blocks / num_xcds) + turn;
)";

constexpr std::string_view kDieContiguousAiter = R"(die = pid % num_xcds;
turn = pid / num_xcds;
share = cdiv(num_blocks, num_xcds);
tall = num_blocks % num_xcds;
if (tall == 0) tall = num_xcds;
if (die < tall) {
  pid = die * share + turn;
} else {
  pid = tall * share + (die - tall) * (share - 1) + turn;
}
)";

constexpr std::string_view kChunked = R"(chunk = {chunk};
round = num_xcds * chunk;
if (pid < num_blocks / round * round) {
  die = pid % num_xcds;
  turn = pid / num_xcds;
  pid = turn / chunk * round + die * chunk + turn % chunk;
}
)";

constexpr std::string_view kHipblaslt = R"(group = {group};
full = num_blocks / num_xcds * num_xcds;
if (pid < full) {
  base = pid / group * group;
  size = min(group, full - base);
  pid = base + pid % group / num_xcds + pid % num_xcds * (size / num_xcds);
}
)";

constexpr std::string_view kCkGrouped = R"(groups = {group};
size = cdiv(num_blocks, groups);
big = groups - (groups * size - num_blocks);
which = pid % groups;
turn = pid / groups;
if (which <= big) {
  pid = which * size + turn;
} else {
  pid = which * size + big - which + turn;
}
)";

constexpr std::string_view kInverse = R"(share = num_blocks / num_xcds;
extra = num_blocks % num_xcds;
split = extra * (share + 1);
if (pid < split) {
  die = pid / (share + 1);
  turn = pid % (share + 1);
} else {
  die = extra + (pid - split) / share;
  turn = (pid - split) % share;
}
pid = turn * num_xcds + die;
)";

constexpr std::string_view kInverseSimple = R"(share = num_blocks / num_xcds;
pid = pid % share * num_xcds + pid / share;
)";

// Whole heads first: as many on each die as all dies can have. The dispatch indices beyond those
// are dealt out die-contiguously, so that a head that must be split is split into few pieces.
constexpr std::string_view kHeadFirstY = R"(blocks = {blocks|num_pid_x};
whole = num_blocks / blocks / num_xcds * blocks;
die = pid % num_xcds;
turn = pid / num_xcds;
if (turn < whole) {
  pid = die * whole + turn;
} else {
  first = whole * num_xcds;
  rest = num_blocks - first;
  pid = first + die * (rest / num_xcds) + min(die, rest % num_xcds) + turn - whole;
}
)";

constexpr std::string_view kHeadFirstX = R"(blocks = num_pid_y;
whole = num_blocks / blocks / num_xcds * blocks;
die = pid % num_xcds;
turn = pid / num_xcds;
if (turn < whole) {
  place = die * whole + turn;
} else {
  first = whole * num_xcds;
  rest = num_blocks - first;
  place = first + die * (rest / num_xcds) + min(die, rest % num_xcds) + turn - whole;
}
head = place / blocks;
batch = head / num_pid_x;
pid = head % num_pid_x + num_pid_x * (place % blocks + blocks * batch);
)";

// Rounds of two steps that are each reversible: an affine map modulo num_blocks, whose factor is a
// prime above 2^31 and so has no common divisor with any num_blocks, and a scramble of the bits of
// the values below the largest power of two.
constexpr std::string_view kRandom = R"(seed = {seed};
bits = ilog2(num_blocks);
power = 1 << bits;
for (round = 0; round < 3; ++round) {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  pid = (pid * (2654435761 % num_blocks) + seed % num_blocks) % num_blocks;
  if (pid < power) {
    pid = (pid * (seed % power * 2 + 1)) & (power - 1);
    pid = pid ^ (pid >> (bits / 2 + 1));
  }
}
)";

// --- in-die steps ---

constexpr std::string_view kYFastest = "pid = pid % rows * cols + pid / rows;\n";

constexpr std::string_view kSnakeX = R"(row = pid / cols;
col = pid % cols;
if (row % 2 == 1) col = cols - 1 - col;
pid = row * cols + col;
)";

constexpr std::string_view kSnakeY = R"(col = pid / rows;
row = pid % rows;
if (col % 2 == 1) row = rows - 1 - row;
pid = row * cols + col;
)";

constexpr std::string_view kDiagonal = R"(row = pid / cols;
pid = row * cols + (pid % cols + row) % cols;
)";

constexpr std::string_view kGroupedY = R"(height = {height};
band = height * cols;
first = pid / band * height;
tall = min(rows - first, height);
pid = (first + pid % band % tall) * cols + pid % band / tall;
)";

constexpr std::string_view kGroupedX = R"(height = {height};
band = height * rows;
first = pid / band * height;
wide = min(cols - first, height);
pid = pid % band / wide * cols + first + pid % band % wide;
)";

constexpr std::string_view kAiterGroupedY = R"(height = {height};
band = height * cols;
first = pid / band * height;
tall = min(rows - first, height);
pid = (first + pid % tall) * cols + pid % band / tall;
)";

constexpr std::string_view kAiterGroupedX = R"(height = {height};
band = height * rows;
first = pid / band * height;
wide = min(cols - first, height);
pid = pid % band / wide * cols + first + pid % wide;
)";

constexpr std::string_view kCutlass2 = R"(height = 1 << {tile};
band = height * cols;
first = pid / band * height;
tall = min(rows - first, height);
pid = (first + pid % band % tall) * cols + pid % band / tall;
)";

constexpr std::string_view kCutlass3Y = R"(height = 1 << {tile};
width = {cluster};
band = height * cols;
top = pid / band * height;
tall = min(rows - top, height);
panel = tall * width;
left = pid % band / panel * width;
wide = min(cols - left, width);
inside = pid % band % panel;
pid = (top + inside / wide) * cols + left + inside % wide;
)";

constexpr std::string_view kCutlass3X = R"(width = 1 << {tile};
height = {cluster};
band = width * rows;
left = pid / band * width;
wide = min(cols - left, width);
panel = wide * height;
top = pid % band / panel * height;
tall = min(rows - top, height);
inside = pid % band % panel;
pid = (top + inside % tall) * cols + left + inside / tall;
)";

constexpr std::string_view kMorton = R"(bits = {bits|ilog2(min(rows, cols))};
side = 1 << bits;
band = side * cols;
top = pid / band * side;
tall = min(rows - top, side);
place = pid % band;
row = place % tall;
col = place / tall;
if (tall == side && place < cols / side * side * side) {
  // Inside a whole tile: even bits of the place are the column, odd bits the row.
  row = 0;
  col = place / (side * side) * side;
  for (i = 0; i < bits; ++i) {
    col += ((place >> (2 * i)) & 1) << i;
    row += ((place >> (2 * i + 1)) & 1) << i;
  }
}
pid = (top + row) * cols + col;
)";

constexpr std::string_view kHilbert = R"(bits = {bits|ilog2(min(rows, cols))};
side = 1 << bits;
band = side * cols;
top = pid / band * side;
tall = min(rows - top, side);
place = pid % band;
row = place % tall;
col = place / tall;
if (tall == side && place < cols / side * side * side) {
  // Inside a whole tile: from the smallest square outwards, turn and shift by quadrant.
  row = 0;
  col = 0;
  rest = place % (side * side);
  for (square = 1; square < side; square *= 2) {
    right = (rest / 2) & 1;
    down = (rest ^ right) & 1;
    if (down == 0) {
      if (right == 1) {
        row = square - 1 - row;
        col = square - 1 - col;
      }
      swap = row;
      row = col;
      col = swap;
    }
    col += square * right;
    row += square * down;
    rest /= 4;
  }
  col += place / (side * side) * side;
}
pid = (top + row) * cols + col;
)";

SwizzleParameter height_parameter(std::int64_t fallback) {
  return {"height", "thickness of a band in blocks", fallback, 1, kMost};
}

SwizzleParameter cols_parameter() {
  return {std::string(kCols), "columns of the grid that the launch is; 0 = num_pid_x", 0, 0, kMost};
}

SwizzleParameter bits_parameter() {
  return {"bits", "log2 of the side of a tile; 0 = the largest that fits the grid", 0, 0, 10};
}

std::vector<SwizzleTemplate> make_templates() {
  using enum SwizzleRole;
  return {
      {{"identity",
        "Leaves the order of blocks as the hardware dispatches them.",
        "every kernel",
        kInDieStep,
        true,
        "",
        {},
        {}},
       false,
       {kIdentity}},

      {{"die-contiguous",
        "Each die computes one contiguous share of the blocks; shares differ by at most one block. "
        "Neighbouring blocks, which usually read the same data, then meet in one die's L2.",
        "Triton matmul_ogs",
        kDieStep,
        true,
        "",
        {},
        {}},
       false,
       {kDieContiguous}},
      {{"die-contiguous-simple",
        "Each die computes one contiguous share of the blocks, provided that the die count divides "
        "the block count; otherwise blocks are lost.",
        "arXiv 2508.20258 and many hand-written kernels",
        kDieStep,
        false,
        "die-contiguous",
        {},
        {}},
       false,
       {kDieContiguousSimple}},
      {{"die-contiguous-aiter",
        "Each die computes one contiguous share of the blocks, the long shares first. The same "
        "permutation as die-contiguous, computed another way.",
        "AITER",
        kDieStep,
        true,
        "",
        {},
        {}},
       false,
       {kDieContiguousAiter}},
      {{"chunked",
        "Blocks are dealt to the dies in chunks of {chunk} neighbours, round after round. All dies "
        "move through the grid together and so share the last-level cache, while a chunk shares "
        "one L2.",
        "HipKittens, AITER",
        kDieStep,
        true,
        "",
        {{"chunk", "neighbouring blocks that one die gets at a time", 8, 1, kMost}},
        {}},
       false,
       {kChunked}},
      {{"hipblaslt-wgmxcc",
        "Inside each group of {group} blocks every die computes one contiguous part. A bijection "
        "when the die count divides the group.",
        "hipBLASLt, WGMXCC",
        kDieStep,
        false,
        "chunked",
        {{"group", "blocks of a group; a multiple of the die count", 24, 1, kMost}},
        {}},
       false,
       {kHipblaslt}},
      {{"ck-grouped",
        "The blocks are cut into {group} contiguous groups of nearly equal size, and consecutive "
        "dispatch indices take one block of each group in turn. With as many groups as dies, each "
        "die computes one group.",
        "Composable Kernel",
        kDieStep,
        true,
        "",
        {{"group", "number of groups", 8, 1, kMost}},
        {}},
       false,
       {kCkGrouped}},
      {{"inverse",
        "Undoes die-contiguous: neighbouring blocks go to different dies and each die works on "
        "blocks that lie far apart. Useful as a bad reference, or on a kernel that already "
        "swizzles.",
        "logs of arXiv 2508.20258, made exact",
        kDieStep,
        true,
        "",
        {},
        {}},
       false,
       {kInverse}},
      {{"inverse-simple",
        "Undoes die-contiguous-simple, provided that the die count divides the block count; "
        "otherwise blocks are lost.",
        "logs of arXiv 2508.20258",
        kDieStep,
        false,
        "inverse",
        {},
        {}},
       false,
       {kInverseSimple}},
      {{"head-first",
        "Each die computes whole heads (the blocks of one index along the axis, which share their "
        "keys and values in attention), one after the other, so that what they share is read into "
        "one L2 only. Heads that cannot be dealt out evenly are split between dies in contiguous "
        "parts.",
        "after arXiv 2511.02132, derived anew for any batch and head count",
        kDieStep,
        true,
        "",
        {{"blocks",
          "blocks of one head in a one-dimensional launch; 0 = num_pid_x (axis=y, z only)", 0, 0,
          kMost}},
        {"y", "x", "z"}},
       false,
       {kHeadFirstY, kHeadFirstX, kHeadFirstY}},
      {{"random",
        "A reproducible pseudo-random order (seed {seed}): the bad reference that any useful order "
        "must beat.",
        "this project",
        kDieStep,
        true,
        "",
        {{"seed", "chooses the permutation", 1, 0, (std::int64_t{1} << 31) - 1}},
        {}},
       false,
       {kRandom}},

      {{"x-fastest",
        "Walks the grid row by row, as the hardware dispatches it.",
        "textbook",
        kInDieStep,
        true,
        "",
        {},
        {}},
       false,
       {kIdentity}},
      {{"y-fastest",
        "Walks the grid column by column. Better than rows where what a column shares is larger "
        "than what a row shares.",
        "textbook",
        kInDieStep,
        true,
        "",
        {},
        {}},
       true,
       {kYFastest}},
      {{"snake",
        "Walks along {axis} and turns round at each end, so that the data of the turning point is "
        "still in the cache.",
        "textbook (boustrophedon)",
        kInDieStep,
        true,
        "",
        {},
        {"x", "y"}},
       true,
       {kSnakeX, kSnakeY}},
      {{"diagonal",
        "Walks the grid row by row, each row beginning one column further on. Spreads blocks "
        "that would otherwise ask the same memory channels at the same time.",
        "textbook (matrix transpose)",
        kInDieStep,
        true,
        "",
        {},
        {}},
       true,
       {kDiagonal}},
      {{"grouped",
        "Walks bands {height} blocks thick (cut along {axis}), across the band first. Blocks in "
        "flight together then form a tile that reads few rows and few columns of the inputs.",
        "Triton GROUP_SIZE_M, HipKittens W",
        kInDieStep,
        true,
        "",
        {height_parameter(8)},
        {"y", "x"}},
       true,
       {kGroupedY, kGroupedX}},
      {{"aiter-grouped",
        "As grouped with bands {height} blocks thick (cut along {axis}), but the walk across the "
        "last, thinner band begins rotated.",
        "AITER",
        kInDieStep,
        true,
        "",
        {height_parameter(8)},
        {"y", "x"}},
       true,
       {kAiterGroupedY, kAiterGroupedX}},
      {{"cutlass-2",
        "Walks bands of 2^{tile} rows, across the band first. CUTLASS pads the grid so that all "
        "bands are full; here the padding is left out and the last band is thinner.",
        "CUTLASS 2.x GemmIdentityThreadblockSwizzle",
        kInDieStep,
        true,
        "",
        {{"tile", "log2 of the rows of a band", 3, 0, 20}},
        {}},
       true,
       {kCutlass2}},
      {{"cutlass-3",
        "Walks bands 2^{tile} blocks thick (cut along {axis}) in panels of {cluster} blocks, each "
        "panel row by row. Clusters stay together, and the padding of CUTLASS is left out.",
        "CUTLASS 3.x persistent tile scheduler",
        kInDieStep,
        true,
        "",
        {{"tile", "log2 of the thickness of a band", 3, 0, 20},
         {"cluster", "blocks of a cluster along the band", 2, 1, kMost}},
        {"y", "x"}},
       true,
       {kCutlass3Y, kCutlass3X}},
      {{"morton",
        "Walks square power-of-two tiles along the Morton (Z) curve, which keeps every stretch of "
        "the order roughly square at all sizes. What does not fill a tile is walked by columns.",
        "textbook",
        kInDieStep,
        true,
        "",
        {bits_parameter()},
        {}},
       true,
       {kMorton}},
      {{"hilbert",
        "Walks square power-of-two tiles along the Hilbert curve, in which consecutive blocks are "
        "always neighbours. What does not fill a tile is walked by columns.",
        "textbook",
        kInDieStep,
        true,
        "",
        {bits_parameter()},
        {}},
       true,
       {kHilbert}},
  };
}

std::vector<SwizzleTemplate> with_cols(std::vector<SwizzleTemplate> templates) {
  for (SwizzleTemplate& t : templates) {
    if (t.on_view) t.family.parameters.push_back(cols_parameter());
  }
  return templates;
}

}  // namespace

const std::vector<SwizzleTemplate>& swizzle_templates() {
  static const std::vector<SwizzleTemplate> templates = with_cols(make_templates());
  return templates;
}

}  // namespace swizzleperf
