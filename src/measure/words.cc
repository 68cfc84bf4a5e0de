// See words.h.
#include "measure/words.h"

#include <fmt/format.h>

#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf::measure {
namespace {

using nlohmann::json;

/// A value of the model's metrics, or nothing where it has none.
std::optional<double> modelled(const json& metrics, const char* level, const char* key) {
  if (!metrics.is_object() || !metrics.contains(level)) return std::nullopt;
  const json& at = metrics.at(level);
  const json& value = at.is_object() ? at.value(key, json()) : at;
  return value.is_number() ? std::optional<double>(value.get<double>()) : std::nullopt;
}

std::optional<double> modelled_ms(const json& metrics) {
  if (!metrics.is_object() || !metrics.contains("time_ms")) return std::nullopt;
  return metrics.at("time_ms").get<double>();
}

template <typename Words>
std::string both(const std::optional<double>& measured, const std::optional<double>& model,
                 const Words& words) {
  const auto say = [&](const std::optional<double>& v) { return v ? words(*v) : std::string("-"); };
  return fmt::format("{} ({})", say(measured), say(model));
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string plain_ms(double value) { return ms_words(value); }

std::string plain_bytes(double value) { return bytes_words(value); }

std::optional<double> counted(const Measured& m, std::optional<double> Counters::* what) {
  return m.profile.counters ? (*m.profile.counters).*what : std::nullopt;
}

std::vector<std::string> row(const std::string& name, const Measured& m, const json& predicted,
                             const json& base) {
  const auto own = modelled_ms(predicted);
  const auto original = modelled_ms(base);
  const std::string model = own && original ? fmt::format("{:.2f}x", *original / *own) : "-";
  const auto time = m.milliseconds ? std::optional<double>(m.milliseconds->value) : std::nullopt;
  return {name,
          both(time, own, plain_ms),
          m.speedup ? fmt::format("{:.3f}x", m.speedup->value) : "-",
          m.speedup ? fmt::format("{:.3f}-{:.3f}", m.speedup->low, m.speedup->high) : "-",
          model,
          both(counted(m, &Counters::l2_hit_rate), modelled(predicted, "l2", "hit_rate"), percent),
          both(counted(m, &Counters::dram_read_bytes), modelled(predicted, "hbm", "read_bytes"),
               plain_bytes)};
}

std::string figures(const Results& r, const Bundle& bundle) {
  Table table{{{"order"},
               {"time ms (model)", true},
               {"speed", true},
               {fmt::format("{:.3g} % interval", 100 * r.confidence), true},
               {"model", true},
               {"L2 hit % (model)", true},
               {"DRAM read (model)", true}},
              {}};
  table.rows.push_back(row("as it is", r.original, bundle.predicted, bundle.predicted));
  for (std::size_t i = 0; i < r.candidates.size(); ++i) {
    const Candidate& c = bundle.candidates[i];
    if (r.candidates[i].status == Status::kRefused) continue;
    table.rows.push_back(row(fmt::format("{} {}", c.number, c.spec), r.candidates[i], c.predicted,
                             bundle.predicted));
  }
  return render(table, output_width());
}

std::string problems(const Results& r, const Bundle& bundle) {
  std::string text;
  for (std::size_t i = 0; i < r.candidates.size(); ++i) {
    const Measured& m = r.candidates[i];
    if (m.status == Status::kMeasured) continue;
    const char* what = m.status == Status::kRefused ? "refused" : "not compared";
    text += wrap(fmt::format("{} {} {}: {}.", m.number, bundle.candidates[i].spec, what, m.reason),
                 output_width(), 2);
  }
  return text;
}

/// How it was done; what holds of all is said once.
std::string circumstances(const Results& r) {
  std::string text = wrap("L2 " + r.l2_state + ".", output_width());
  const Profile& p = r.original.profile;
  if (p.counters) {
    text += wrap(fmt::format("Counters: {}.", p.counters->how), output_width());
    for (const std::string& note : p.counters->notes) text += wrap(note + ".", output_width(), 2);
  } else {
    text += wrap(fmt::format("No counters: {}.", p.missing), output_width());
  }
  for (const std::string& note : r.original.notes) text += wrap(note + ".", output_width(), 2);
  return text;
}

std::string energy(const Results& r) {
  if (!r.original.joules) return "";
  std::string text = fmt::format("Energy of a launch: {:.3g} J as it is", *r.original.joules);
  for (const Measured& m : r.candidates) {
    if (m.joules) text += fmt::format(", {:.3g} J candidate {}", *m.joules, m.number);
  }
  return wrap(text + ".", output_width());
}

}  // namespace

std::string console(const Results& r, const Bundle& bundle) {
  const std::string devices =
      r.devices == 1 ? r.device : fmt::format("{} x {}", r.devices, r.device);
  return fmt::format("{} measured on {}, modelled for {}\n\n", bundle.target.kernel, devices,
                     bundle.machine) +
         figures(r, bundle) + problems(r, bundle) + "\n" + circumstances(r) + energy(r) +
         "\nVerdict: " + wrap(r.verdict + ".", output_width());
}

}  // namespace swizzleperf::measure
