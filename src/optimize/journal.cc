// See journal.h.
#include "optimize/journal.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

std::pair<std::size_t, std::string> key_of(const json& record) {
  return {record.at("rung").get<std::size_t>(), record.at("spec").get<std::string>()};
}

}  // namespace

Journal::Journal(const std::filesystem::path& file)
    : lines_(file, [this](json&& record) {
        auto key = key_of(record);
        records_.emplace(std::move(key), std::move(record));
      }) {}

std::optional<json> Journal::find(std::size_t rung, const std::string& spec) const {
  const std::lock_guard lock(mutex_);
  const auto it = records_.find({rung, spec});
  if (it == records_.end()) return std::nullopt;
  return it->second;
}

void Journal::append(const json& record) {
  const std::lock_guard lock(mutex_);
  lines_.append(record);
  records_.emplace(key_of(record), record);
}

std::size_t Journal::size() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

}  // namespace swizzleperf
