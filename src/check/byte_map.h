// Which of many tags each byte of device memory carries: "who wrote this byte last?"
//
// Bytes must be told apart (two blocks may share a line without sharing a byte), but nearly always
// whole lines belong to one block. So memory is kept in pages of 64 KiB, made when first touched,
// and a page in lines of 64 bytes: a line whose bytes all carry one tag costs four bytes, any other
// points to a list of its 64 tags. That is a sixteenth of the memory a launch touches, and four
// times as much where every line is shared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace swizzleperf {

class ByteMap {
 public:
  static constexpr std::uint32_t kNone = 0;           ///< the tag of what was never touched
  static constexpr std::uint32_t kMost = 0x7fffffff;  ///< the greatest tag

  /// Calls visit(begin, end, tag) for [begin, end) in pieces of one tag each.
  template <class Visit>
  void visit(std::uint64_t begin, std::uint64_t end, Visit visit) {
    for_lines(begin, end, false, [&](std::uint32_t* line, std::uint64_t from, std::uint64_t to) {
      if (line == nullptr) return visit(from, to, kNone);
      pieces(*line, from, to, visit);
    });
  }

  /// The same, then [begin, end) carries `tag`.
  template <class Visit>
  void replace(std::uint64_t begin, std::uint64_t end, std::uint32_t tag, Visit visit) {
    for_lines(begin, end, true, [&](std::uint32_t* line, std::uint64_t from, std::uint64_t to) {
      pieces(*line, from, to, visit);
      put(*line, from, to, tag);
    });
  }

  /// What carries no tag in [begin, end) gets the one that make() returns.
  template <class Make>
  void fill(std::uint64_t begin, std::uint64_t end, Make make) {
    for_lines(begin, end, true, [&](std::uint32_t* line, std::uint64_t from, std::uint64_t to) {
      if (*line == kNone) return put(*line, from, to, make());
      if ((*line & kSharedBit) == 0) return;
      Shared& tags = shared_[*line & ~kSharedBit];
      for (std::uint64_t b = from; b < to; ++b)
        if (tags[b % kLine] == kNone) tags[b % kLine] = make();
    });
  }

  /// Calls visit(begin, end, tag) for all that carries a tag, in the order of addresses; pieces end
  /// at lines.
  template <class Visit>
  void for_all(Visit visit) const {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(pages_.size());
    for (const auto& [number, page] : pages_) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
    for (const std::uint64_t number : numbers) {
      const Page& page = *pages_.at(number);
      for (std::size_t i = 0; i < page.size(); ++i) {
        const std::uint64_t from = number * kPage + i * kLine;
        pieces(page[i], from, from + kLine,
               [&](std::uint64_t begin, std::uint64_t end, std::uint32_t tag) {
                 if (tag != kNone) visit(begin, end, tag);
               });
      }
    }
  }

  [[nodiscard]] std::uint64_t memory_bytes() const {
    return pages_.size() * sizeof(Page) + shared_.size() * sizeof(Shared);
  }

 private:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kPage = 65536;
  static constexpr std::uint32_t kSharedBit = 0x80000000;  // the rest is an index into shared_
  using Page = std::array<std::uint32_t, kPage / kLine>;
  using Shared = std::array<std::uint32_t, kLine>;

  template <class Body>
  void for_lines(std::uint64_t begin, std::uint64_t end, bool create, Body body) {
    while (begin < end) {
      const std::uint64_t to = std::min(end, (begin / kLine + 1) * kLine);
      Page* const page = find_page(begin / kPage, create);
      body(page == nullptr ? nullptr : &(*page)[begin % kPage / kLine], begin, to);
      begin = to;
    }
  }

  Page* find_page(std::uint64_t number, bool create) {
    if (last_page_ != nullptr && last_number_ == number) return last_page_;
    auto at = pages_.find(number);
    if (at == pages_.end()) {
      if (!create) return nullptr;
      at = pages_.emplace(number, std::make_unique<Page>()).first;
    }
    last_number_ = number;
    last_page_ = at->second.get();
    return last_page_;
  }

  /// [from, to) lies in the line.
  template <class Visit>
  void pieces(std::uint32_t line, std::uint64_t from, std::uint64_t to, Visit visit) const {
    if ((line & kSharedBit) == 0) return visit(from, to, line);
    const Shared& tags = shared_[line & ~kSharedBit];
    while (from < to) {
      std::uint64_t end = from + 1;
      while (end < to && tags[end % kLine] == tags[from % kLine]) ++end;
      visit(from, end, tags[from % kLine]);
      from = end;
    }
  }

  void put(std::uint32_t& line, std::uint64_t from, std::uint64_t to, std::uint32_t tag) {
    const bool shared = (line & kSharedBit) != 0;
    if (to - from == kLine) {
      if (shared) unused_.push_back(line & ~kSharedBit);
      line = tag;
      return;
    }
    if (line == tag) return;
    if (!shared) {
      const std::uint32_t old = line;
      line = kSharedBit | new_shared();
      shared_[line & ~kSharedBit].fill(old);
    }
    Shared& tags = shared_[line & ~kSharedBit];
    std::fill(tags.begin() + static_cast<std::ptrdiff_t>(from % kLine),
              tags.begin() + static_cast<std::ptrdiff_t>((to - 1) % kLine + 1), tag);
    if (std::all_of(tags.begin(), tags.end(), [&](std::uint32_t t) { return t == tag; })) {
      unused_.push_back(line & ~kSharedBit);
      line = tag;
    }
  }

  std::uint32_t new_shared() {
    if (unused_.empty()) {
      shared_.emplace_back();
      return static_cast<std::uint32_t>(shared_.size() - 1);
    }
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    return index;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::deque<Shared> shared_;
  std::vector<std::uint32_t> unused_;  // of shared_
  std::uint64_t last_number_ = 0;
  Page* last_page_ = nullptr;
};

}  // namespace swizzleperf
