// See words.h. Every figure is one of the facts, rounded; the words between depend on them alone.
#include "context/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 100;

Dim3 extent_of(const json& three) { return {three[0], three[1], three[2]}; }

std::string words_of(const json& key) { return key.get<std::string>(); }

std::string whole(const json& count) { return fmt::format("{:.0f}", count.get<double>()); }

std::string size(const json& bytes) { return bytes_words(bytes.get<double>()); }

/// 100 % and 0 % mean all and none, not almost.
std::string percent(const json& share) {
  if (share.is_null()) return "unknown";
  const double value = share;
  if (value > 0 && value < 0.0005) return "less than 0.1 %";
  if (value < 1 && value >= 0.9995) return "more than 99.9 %";
  if (value == 0 || value == 1) return value == 0 ? "0 %" : "100 %";
  return fmt::format("{:.1f} %", 100 * value);
}

/// "16", or "12 to 16 (median 14)"
std::string spread(const json& s) {
  if (s["least"] == s["most"]) return whole(s["most"]);
  return fmt::format("{} to {} (median {})", whole(s["least"]), whole(s["most"]),
                     whole(s["median"]));
}

std::string paragraph(const std::string& text) { return wrap(text, kWidth); }

std::string item(const std::string& text) { return wrap("- " + text, kWidth, 2); }

// --- The kernel ---------------------------------------------------------------------------------

std::string index_words(const json& grid) {
  static constexpr const char* kAxes[] = {"pid_x", "pid_y", "pid_z"};
  std::vector<std::string> ranges;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::uint32_t extent = grid[a];
    if (extent > 1) ranges.push_back(fmt::format("{} below {}", kAxes[a], extent));
  }
  if (ranges.empty()) return "It has one block.";
  return fmt::format("A block's index is {}; pid counts them all, pid_x fastest.",
                     fmt::join(ranges, ", "));
}

std::string task(const json& facts) {
  if (facts["context"] == "unaware") return "The kernel is to run faster.";
  const std::string objective = facts["objective"];
  if (objective == "l2") return "The objective is the highest L2 hit rate.";
  if (objective == "hbm") return "The objective is the fewest bytes from and to memory (HBM).";
  return "The objective is the shortest time; of equal times, the one with fewer L2 misses.";
}

std::string kernel(const json& facts) {
  return "# The kernel\n" +
         paragraph(
             fmt::format("{}: {}{}. {} {}", words_of(facts["kernel"]),
                         launch_words(extent_of(facts["grid"]), extent_of(facts["block"])),
                         facts["grid"][0] == facts["blocks"]
                             ? ""
                             : fmt::format(", {} in all", facts["blocks"].get<std::uint64_t>()),
                         index_words(facts["grid"]), task(facts)));
}

// --- What blocks share --------------------------------------------------------------------------

/// Where not all were looked at.
std::string sampled(const json& looked, const json& of, const char* what) {
  if (looked == of) return "";
  return fmt::format(" ({} of {} {} looked at, spread over the launch)",
                     looked.get<std::uint64_t>(), of.get<std::uint64_t>(), what);
}

/// "100 % at distance 1, 50.0 % at 2 and 4, 0 % at 8 to 64"
std::string by_distance(const json& distances) {
  std::vector<std::string> parts;
  for (std::size_t i = 0, end = 0; i < distances.size(); i = end) {
    const std::string share = percent(distances[i]["share"]);
    while (end < distances.size() && percent(distances[end]["share"]) == share) ++end;
    const auto first = distances[i]["distance"].get<std::uint64_t>();
    const auto last = distances[end - 1]["distance"].get<std::uint64_t>();
    std::string part = fmt::format("{} at {}{}", share, i == 0 ? "distance " : "", first);
    if (end == i + 2) part += fmt::format(" and {}", last);
    if (end > i + 2) part += fmt::format(" to {}", last);
    part += sampled(distances[i]["pairs"], distances[i]["of"], "pairs");
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Where single pairs are far from the mean, for the nearest distance.
std::string range_of_pairs(const json& distances) {
  constexpr double kFar = 0.1;
  const json& nearest = distances.front();
  if (nearest["share"].is_null()) return "";
  const double share = nearest["share"];
  const double least = nearest["least"];
  const double most = nearest["most"];
  if (share - least < kFar && most - share < kFar) return "";
  return fmt::format("; between {} and {} for single pairs at distance {}",
                     percent(nearest["least"]), percent(nearest["most"]),
                     nearest["distance"].get<std::uint64_t>());
}

std::string others_words(const std::string& axis, const json& row) {
  if (axis == "pid") return "";
  return fmt::format(
      "; blocks that differ along another axis as well as {} ask for {} of its lines", axis,
      row["outside"] == 0 ? "none" : percent(row["outside"]));
}

/// What the blocks that differ in one axis share, all of them together.
std::string row_words(const std::string& axis, const json& row) {
  std::string text = fmt::format("; any other{} asks for {}",
                                 axis == "pid" ? "" : fmt::format(" that differs in {} only", axis),
                                 percent(row["by_any"]));
  if (row["by_all"] != 0) text += fmt::format(", every one of them for {}", percent(row["by_all"]));
  return text + sampled(row["rows"], row["of"], "rows") + others_words(axis, row);
}

/// What blocks that differ in one axis share.
std::string along(const json& axis) {
  const std::string name = axis["axis"];
  const json& row = axis["row"];
  const std::string who =
      name == "pid" ? "Blocks" : fmt::format("Blocks that differ in {} only", name);
  const bool whole_rows = !row.is_null() && row["rows"] == row["of"];
  if (whole_rows && row["by_all"] == 1) {
    return fmt::format("{} ask for the same lines, all of them{}.", who, others_words(name, row));
  }
  if (whole_rows && row["by_any"] == 0) {
    return fmt::format("{} share no line{}.", who, others_words(name, row));
  }
  const json& distances = axis["distances"];
  return fmt::format("Along {}, of a block's lines another asks for {}{}{}.", name,
                     by_distance(distances), range_of_pairs(distances),
                     row.is_null() ? "" : row_words(name, row));
}

std::string array_words(const json& a, std::uint64_t blocks) {
  std::vector<std::string> moved;
  if (a["loaded_bytes"] != 0) moved.push_back(size(a["loaded_bytes"]) + " loaded");
  if (a["stored_bytes"] != 0) moved.push_back(size(a["stored_bytes"]) + " stored");
  const std::string who = a["blocks"] == blocks ? "A block asks"
                                                : fmt::format("{} of the blocks ask for it, each",
                                                              a["blocks"].get<std::uint64_t>());
  std::string text = paragraph(fmt::format(
      "{}: {}; {}. {} for {} lines ({}). Of {} lines asked for, each is asked for by {} block{}.",
      words_of(a["name"]), size(a["bytes"]), fmt::join(moved, ", "), who,
      spread(a["lines_of_block"]), size(a["bytes_of_block"]), a["lines"].get<std::uint64_t>(),
      spread(a["blocks_of_line"]), a["blocks_of_line"]["most"] == 1 ? "" : "s"));
  for (const json& axis : a["axes"]) text += item(along(axis));
  return text;
}

std::string locality(const json& facts) {
  const json& l = facts["locality"];
  std::string text =
      "\n# What its blocks share\n" +
      paragraph(fmt::format("Traced, in lines of {} bytes; a line counts once a block, however "
                            "often the block asks for it.",
                            l["line_bytes"].get<std::uint64_t>()));
  for (const json& array : l["arrays"]) text += array_words(array, facts["blocks"]);
  if (l["arrays"].empty()) text += "The blocks ask for nothing.\n";
  const json& w = facts["work"];
  text +=
      paragraph(fmt::format("Work of a block: {} requests to L2, {} wave instructions.",
                            spread(w["requests_of_block"]), spread(w["instructions_of_block"])));
  return text;
}

// --- What is in flight --------------------------------------------------------------------------

std::string arrays_of(const json& set) {
  std::vector<std::string> parts;
  for (const json& a : set["arrays"]) {
    parts.push_back(words_of(a["name"]) + " " + size(a["bytes"]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string times(const json& value) { return fmt::format("{:.2f} times", value.get<double>()); }

std::string in_flight(const json& facts) {
  const json& die = facts["in_flight"]["die"];
  const json& device = facts["in_flight"]["device"];
  const json& m = facts["machine"];
  if (die["arrays"].empty()) return "";
  std::string text = "\n# What is in flight at once, in the order as it is\n";
  text += item(fmt::format("On one {}, {} blocks; they ask for {} between them ({}), {} its L2.",
                           words_of(m["die_word"]), die["blocks"].get<std::uint64_t>(),
                           size(die["bytes"]), arrays_of(die), times(die["times_l2"])));
  text += item(
      fmt::format("On the whole GPU, {} blocks; they ask for {} ({}){}.",
                  device["blocks"].get<std::uint64_t>(), size(device["bytes"]), arrays_of(device),
                  device["times_llc"].is_null()
                      ? ""
                      : fmt::format(", {} the last-level cache", times(device["times_llc"]))));
  return text;
}

// --- What binds ---------------------------------------------------------------------------------

std::string millions(const json& count) { return count_words(count.get<double>()); }

std::vector<std::string> class_row(const std::string& name, const json& a) {
  std::vector<std::string> cells = {name, millions(a["requests"]), percent(a["hit_rate"])};
  for (const char* c : {"compulsory", "sharing", "capacity", "conflict"}) {
    cells.push_back(millions(a["by_class"][c]["requests"]));
  }
  cells.push_back(size(a["fetched_bytes"]));
  return cells;
}

std::string classes(const json& order) {
  Table table{{{"array"},
               {"requests", true},
               {"hits", true},
               {"compulsory", true},
               {"sharing", true},
               {"capacity", true},
               {"conflict", true},
               {"fetched", true}},
              {}};
  for (const json& a : order["arrays"]) {
    if (a["requests"] != 0) table.rows.push_back(class_row(a["name"], a));
  }
  if (table.rows.size() > 1) table.rows.push_back(class_row("all", order["total"]));
  return table.rows.empty() ? "" : render(table, kWidth);
}

std::string busy(const json& utilisation) {
  static constexpr std::pair<const char*, const char*> kLevels[] = {{"compute", "compute"},
                                                                    {"l2", "L2"},
                                                                    {"fabric", "fabric"},
                                                                    {"llc", "last level"},
                                                                    {"hbm", "memory"}};
  std::vector<std::string> parts;
  for (const auto& [key, word] : kLevels) {
    if (!utilisation[key].is_null()) {
      parts.push_back(fmt::format("{} {:.0f} %", word, 100 * utilisation[key].get<double>()));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ms(const json& value) { return fmt::format("{:.3f} ms", value.get<double>()); }

std::string profile(const json& facts) {
  const json& order = facts["profile"]["identity"];
  const json& limits = facts["profile"]["limits"];
  const json& r = order["metrics"];
  const std::string die = facts["machine"]["die_word"];
  std::string last_level;
  if (!r["llc"].is_null()) {
    last_level = fmt::format(", last-level hits {}", percent(r["llc"]["hit_rate"]));
  }
  std::string text =
      "\n# What binds today, in the order as it is\n" +
      paragraph(fmt::format("Predicted by replaying every request: {}, bound by {} (busy: {}). L2 "
                            "hits {}{}; {} read from memory, {} written.",
                            ms(r["time_ms"]), words_of(r["bound"]), busy(r["utilisation"]),
                            percent(r["l2"]["hit_rate"]), last_level, size(r["hbm"]["read_bytes"]),
                            size(r["hbm"]["write_bytes"])));
  text += classes(order);
  text += paragraph(fmt::format(
      "Misses are compulsory (nobody has asked for the line before: no order helps), sharing "
      "(another {0} has had it: an order that brings the blocks that share it to one {0} helps), "
      "capacity (too much was asked for in between: an order that brings them closer in time "
      "helps) or conflict (the sets of L2).",
      die));
  const json& any = limits["any_order"];
  text += paragraph(fmt::format(
      "With every line fetched once, by one {}, the kernel takes at least "
      "{}, bound by {}: no order gains more than {:.2f}x.",
      die, ms(any["time_ms"]), words_of(any["bound"]), limits["most_speedup"].get<double>()));
  return text;
}

// --- The machine --------------------------------------------------------------------------------

std::string caches(const json& m) {
  const std::string die = m["die_word"];
  std::string text =
      fmt::format("{}: {} {} of {} compute units, {} its own L2 of {}", words_of(m["title"]),
                  m["dies"].get<std::uint64_t>(), die + (m["dies"] == 1 ? "" : "s"),
                  m["cus_per_die"].get<std::uint64_t>(), m["dies"] == 1 ? "with" : "each with",
                  size(m["l2_bytes"]));
  if (m["lines_have_home"] == true) {
    text += fmt::format("; a line that another {} keeps is fetched from there", die);
  }
  text += m["llc_bytes"].is_null()
              ? "; no last-level cache before memory."
              : fmt::format("; a last-level cache of {} before memory, shared by all.",
                            size(m["llc_bytes"]));
  return text + fmt::format(
                    " {} blocks of this kernel fit on a compute unit (limited by {}), {} on each "
                    "{}, {} in all: so many are in flight at once.",
                    m["blocks_per_cu"].get<std::uint64_t>(), words_of(m["occupancy_limit"]),
                    m["slots_per_die"].get<std::uint64_t>(), die, m["slots"].get<std::uint64_t>());
}

std::string queue_of(const json& m) {
  const auto dies = m["dies"].get<std::uint64_t>();
  const auto chunk = m["dispatch_chunk"].get<std::uint64_t>();
  return chunk == 1 ? fmt::format("pid % {}", dies) : fmt::format("pid / {} % {}", chunk, dies);
}

std::string dispatch(const json& m) {
  const std::string die = m["die_word"];
  if (m["dispatch"] == "round-robin" && m["dies"] != 1) {
    return fmt::format(
        "    for pid = 0 .. num_blocks - 1:  append pid to the queue of {0} number {1}\n"
        "    each {0}, on its own:  whenever one of its {2} slots is free, start the next pid of "
        "its queue\n",
        die, queue_of(m), m["slots_per_die"].get<std::uint64_t>());
  }
  return fmt::format(
      "    for pid = 0 .. num_blocks - 1:  wait until one of the {} slots is free, start pid "
      "there\n",
      m["slots"].get<std::uint64_t>());
}

std::string what_meets(const json& m) {
  const std::string die = m["die_word"];
  if (m["dies"] == 1) {
    return "Blocks reuse each other's lines in L2 when they are in flight at about the same time: "
           "when their pids are close.";
  }
  if (m["dispatch"] == "round-robin") {
    return fmt::format(
        "Blocks reuse each other's lines in L2 when they run on the same {}, at "
        "about the same time: when {} is equal and their pids are close.",
        die, queue_of(m));
  }
  return fmt::format(
      "Blocks reuse each other's lines in L2 when they are in flight at about the "
      "same time: when their pids are close. Which {} a pid comes to is not known.",
      die);
}

std::string balance(const json& facts) {
  const json& m = facts["machine"];
  const json& per_die = m["blocks_per_die"];
  const json& requests = facts["work"]["requests_of_block"];
  const std::string die = m["die_word"];
  if (per_die.is_null() || m["dies"] == 1) {
    return "Balance: a free slot takes the next block, so slots stay busy to the end when long "
           "blocks do not come last.";
  }
  const std::string count =
      per_die["least"] == per_die["most"]
          ? per_die["most"].dump()
          : fmt::format("{} or {}", per_die["least"].dump(), per_die["most"].dump());
  return fmt::format(
      "Balance: whatever the order, each {0} computes {1} blocks, and the last {0} to end decides "
      "the time. {2}",
      die, count,
      requests["least"] == requests["most"]
          ? "The blocks are alike, so any order is balanced."
          : fmt::format("The blocks are not alike (above): give each {} as much work as the "
                        "others get.",
                        die));
}

std::string machine(const json& facts) {
  const json& m = facts["machine"];
  return "\n# The machine\n" + paragraph(caches(m)) +
         "How it dispatches blocks (observed; no vendor guarantees it, so the kernel must be right "
         "in any order):\n" +
         dispatch(m) + paragraph(what_meets(m)) + paragraph(balance(facts));
}

// --- Everything ---------------------------------------------------------------------------------

std::string every_number(const json& machine) {
  std::string text = fmt::format("\n# The machine: {} ({}, {}), a die is called {}\n",
                                 words_of(machine["title"]), words_of(machine["name"]),
                                 words_of(machine["arch"]), words_of(machine["die_word"]));
  for (const json& n : machine["numbers"]) {
    text += fmt::format("{} = {}  ({}; {}{})\n", words_of(n["key"]), words_of(n["value"]),
                        words_of(n["kind"]), words_of(n["source"]),
                        n["note"].is_null() ? "" : "; " + words_of(n["note"]));
  }
  return text;
}

std::string everything(const json& facts) {
  return every_number(facts["machine"]) + "\n# Device attributes\n" + facts["device"].dump(2) +
         "\n\n# Profile of the order as it is\n" + facts["profile"].dump(2) + "\n";
}

std::string source_words(const json& facts, const std::string& source) {
  const json& s = facts["source"];
  if (s.is_null()) return "\n# Its source\nNot known: the launch was given without it.\n";
  std::string text = fmt::format("\n# Its source: {}, {}{}\n", words_of(s["name"]),
                                 s["found"] == true ? "the kernel and what it uses of the file"
                                                    : "in which the kernel was not found",
                                 s["shortened"] == true ? ", shortened" : "");
  return text + "```\n" + source + "```\n";
}

}  // namespace

std::string context_words(const json& facts, const std::string& source) {
  std::string text = kernel(facts);
  if (facts["context"] == "aware") {
    text += locality(facts) + in_flight(facts) + profile(facts) + machine(facts);
  } else if (facts["context"] == "overload") {
    text += everything(facts);
  }
  return text + source_words(facts, source);
}

}  // namespace swizzleperf
