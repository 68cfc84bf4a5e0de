// See plot.h.
#include "study/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace swizzleperf::study {
namespace {

constexpr double kHeight = 420;
constexpr double kLeft = 70;
constexpr double kTop = 40;
constexpr double kPlotHeight = 300;
constexpr double kCategoryWidth = 26;

/// Told apart by people who see colours differently.
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#999999"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

bool drawn(const std::pair<double, double>& p) {
  return std::isfinite(p.first) && std::isfinite(p.second);
}

/// From the least to the most that is shown, with room around it.
struct Range {
  double low = 0;
  double high = 1;

  static Range of(std::vector<double> values) {
    if (values.empty()) return {};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double room = *high > *low ? 0.06 * (*high - *low) : std::max(0.1, 0.1 * std::abs(*low));
    return {*low - room, *high + room};
  }

  /// Round numbers inside, about five.
  [[nodiscard]] std::vector<double> ticks() const {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0}) {
      if (factor * power >= rough) step = factor * power;
    }
    std::vector<double> all;
    const auto first = static_cast<std::int64_t>(std::ceil(low / step));
    const auto last = static_cast<std::int64_t>(std::floor(high / step * (1 + 1e-12)));
    for (std::int64_t i = first; i <= last; ++i) all.push_back(static_cast<double>(i) * step);
    return all;
  }
};

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    std::vector<double> xs;
    std::vector<double> ys;
    if (plot.y_rule) ys.push_back(*plot.y_rule);
    for (const Series& s : plot.series) {
      for (const auto& p : s.points) {
        if (!drawn(p)) continue;
        xs.push_back(p.first);
        ys.push_back(p.second);
      }
    }
    y_ = Range::of(std::move(ys));
    x_ = plot.categories.empty() ? Range::of(std::move(xs))
                                 : Range{-0.7, static_cast<double>(plot.categories.size()) - 0.3};
    const double wanted = kCategoryWidth * static_cast<double>(plot.categories.size());
    width_ = std::max(420.0, wanted);
  }

  std::string draw() {
    const double legend = 20 * static_cast<double>(plot_.series.size());
    const double under = label_height();
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        kLeft + width_ + 20, kHeight + under + legend);
    label(kLeft, kTop - 16, "start", plot_.title, 14);
    axes();
    points();
    double y = kTop + kPlotHeight + 62 + under;
    for (std::size_t s = 0; s < plot_.series.size(); ++s, y += 20) {
      dot(kLeft + 6, y - 4, s);
      label(kLeft + 18, y, "start", plot_.series[s].name);
    }
    return text_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double at_x(double x) const {
    return kLeft + width_ * (x - x_.low) / (x_.high - x_.low);
  }
  [[nodiscard]] double at_y(double y) const {
    return kTop + kPlotHeight * (y_.high - y) / (y_.high - y_.low);
  }

  /// Below the axis, for categories written at a slant.
  [[nodiscard]] double label_height() const {
    constexpr double kOfLetter = 5.5;
    std::size_t longest = 0;
    for (const std::string& c : plot_.categories) longest = std::max(longest, c.size());
    return kOfLetter * static_cast<double>(longest);
  }

  /// Points of one category stand beside each other, a place a series.
  [[nodiscard]] double aside(std::size_t series) const {
    if (plot_.categories.empty()) return 0;
    const auto count = static_cast<double>(plot_.series.size());
    return (static_cast<double>(series) - (count - 1) / 2) * 0.6 / count;
  }

  void label(double x, double y, const char* anchor, const std::string& words, int size = 12,
             const char* more = "") {
    text_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\"{}>{}</text>\n", x, y,
        anchor, size, more, escaped(words));
  }

  void line(double x0, double y0, double x1, double y1, const char* colour) {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x0, y0,
        x1, y1, colour);
  }

  void dot(double x, double y, std::size_t series) {
    text_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" fill-opacity=\"0.7\"/>\n", x, y,
        kColours[series % kColours.size()]);
  }

  void axes() {
    const double bottom = kTop + kPlotHeight;
    for (const double t : y_.ticks()) {
      line(kLeft, at_y(t), kLeft + width_, at_y(t), "#dddddd");
      label(kLeft - 6, at_y(t) + 4, "end", fmt::format("{:.4g}", t));
    }
    if (plot_.categories.empty()) {
      for (const double t : x_.ticks()) {
        line(at_x(t), kTop, at_x(t), bottom, "#dddddd");
        label(at_x(t), bottom + 16, "middle", fmt::format("{:.4g}", t));
      }
    }
    for (std::size_t c = 0; c < plot_.categories.size(); ++c) {
      const double x = at_x(static_cast<double>(c));
      const std::string turned =
          fmt::format(" transform=\"rotate(-60 {:.1f} {:.1f})\"", x + 4, bottom + 14);
      label(x + 4, bottom + 14, "end", plot_.categories[c], 11, turned.c_str());
    }
    if (plot_.y_rule)
      line(kLeft, at_y(*plot_.y_rule), kLeft + width_, at_y(*plot_.y_rule), "#666666");
    line(kLeft, kTop, kLeft, bottom, "black");
    line(kLeft, bottom, kLeft + width_, bottom, "black");
    label(kLeft + width_ / 2, bottom + 38 + label_height(), "middle", plot_.x_label);
    const double middle = kTop + kPlotHeight / 2;
    const std::string turned = fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle);
    label(16, middle, "middle", plot_.y_label, 12, turned.c_str());
  }

  void points() {
    for (std::size_t s = 0; s < plot_.series.size(); ++s) {
      for (const auto& p : plot_.series[s].points) {
        if (drawn(p)) dot(at_x(p.first + aside(s)), at_y(p.second), s);
      }
    }
  }

  const Plot& plot_;
  Range x_;
  Range y_;
  double width_ = 0;
  std::string text_;
};

}  // namespace

std::string svg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace swizzleperf::study
