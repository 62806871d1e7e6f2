#include "daemon/cli/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

constexpr std::size_t kLabelColumns = 10;
// Behind the label, a blank and the edge.
constexpr std::size_t kPlotColumns = kTerminalColumns - kLabelColumns - 2;
constexpr std::size_t kRows = 4;

struct Pen {
  std::array<std::string_view, 9> heights;  // of a cell, from empty to full
  std::string_view zero;
  std::string_view edge, corner, axis, mark;
  std::size_t least;  // height of the least that is not zero
};

constexpr Pen kBlockPen = {
    {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "▁", "│", "└", "─", "▲", 2};
constexpr Pen kAsciiPen = {
    {" ", ".", ".", ".", ":", ":", ":", "#", "#"}, "_", "|", "+", "-", "^", 1};

// A value each column: what hurts of those that share it.
std::vector<std::optional<double>> Columns(const Chart& chart) {
  const std::size_t count = chart.values.size();
  std::vector<std::optional<double>> columns(kPlotColumns);
  for (std::size_t c = 0; c < kPlotColumns && count > 0; ++c) {
    const std::size_t first = c * count / kPlotColumns;
    const std::size_t end = std::max(first + 1, (c + 1) * count / kPlotColumns);
    for (std::size_t i = first; i < end; ++i) {
      const std::optional<double>& value = chart.values[i];
      if (!value) continue;
      const double shown = columns[c].value_or(*value);
      columns[c] = chart.worst_is_low ? std::min(shown, *value) : std::max(shown, *value);
    }
  }
  return columns;
}

std::string_view Cell(const std::optional<double>& value, double top, std::size_t row,
                      const Pen& pen) {
  if (!value) return pen.heights[0];
  const double height = top > 0 ? std::clamp(*value / top, 0.0, 1.0) * kRows : 0;
  if (!(height > 0)) return row == 0 ? pen.zero : pen.heights[0];
  const double full = std::clamp(height - static_cast<double>(row), 0.0, 1.0);
  const auto eighths = static_cast<std::size_t>(std::lround(full * 8));
  return pen.heights[row == 0 ? std::max(eighths, pen.least) : eighths];
}

// Of the axis under the plot: a glyph a column.
class Axis {
 public:
  explicit Axis(std::string_view line) : cells_(kPlotColumns, std::string(line)) {}

  // Where nothing else stands, a column apart.
  bool Put(std::size_t column, const std::string& text) {
    const std::size_t end = column + Width(text);
    if (end > kPlotColumns) return false;
    for (std::size_t c = column > 0 ? column - 1 : 0; c < std::min(end + 1, kPlotColumns); ++c) {
      if (taken_[c]) return false;
    }
    // Texts here are ASCII but for the mark, which is a column by itself.
    if (Width(text) == 1) {
      cells_[column] = text;
    } else {
      for (std::size_t i = 0; i < text.size(); ++i) cells_[column + i] = text[i];
    }
    std::fill(taken_.begin() + static_cast<std::ptrdiff_t>(column),
              taken_.begin() + static_cast<std::ptrdiff_t>(end), true);
    return true;
  }
  // The text may touch the column beside it.
  void PutBeside(std::size_t column, const std::string& mark, const std::string& text) {
    Put(column, mark);
    taken_[column] = false;
    const std::size_t width = Width(text);
    if (!Put(column + 1, text) && column >= width) Put(column - width, text);
    taken_[column] = true;
  }
  std::string Text() const {
    std::string text;
    for (const std::string& cell : cells_) text += cell;
    return text;
  }

 private:
  std::vector<std::string> cells_;
  std::array<bool, kPlotColumns> taken_{};
};

std::string AxisText(const Chart& chart, const Pen& pen) {
  Axis axis(pen.axis);
  axis.Put(kPlotColumns - 4, " now");
  const std::string began = "began " + HumanAge(chart.mark_ago) + " ago";
  std::string left = " " + HumanAge(chart.begin_ago) + " ago ";
  if (chart.mark_ago > chart.begin_ago) {
    left += "(" + began + ") ";
  } else if (chart.begin_ago > 0) {
    const double share = 1 - std::max(chart.mark_ago, 0.0) / chart.begin_ago;
    const auto column = static_cast<std::size_t>(share * kPlotColumns);
    axis.PutBeside(std::min(column, kPlotColumns - 1), std::string(pen.mark), " " + began + " ");
  }
  axis.Put(0, left);
  return axis.Text();
}

void AppendLine(std::string_view label, std::string_view edge, std::string text, std::string& out) {
  text.erase(text.find_last_not_of(' ') + 1);
  const std::size_t blanks = kLabelColumns - std::min(kLabelColumns, Width(label));
  out += fmt::format("{}{} {}{}\n", std::string(blanks, ' '), label, edge, text);
}

}  // namespace

Glyphs GlyphsFor(bool terminal, const char* lc_all, const char* lc_ctype, const char* lang) {
  if (!terminal) return Glyphs::kAscii;
  for (const char* const variable : {lc_all, lc_ctype, lang}) {
    if (variable == nullptr || *variable == '\0') continue;
    std::string locale;
    for (const char c : std::string_view(variable)) {
      if (c != '-') locale += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return locale.ends_with("utf8") ? Glyphs::kBlocks : Glyphs::kAscii;
  }
  return Glyphs::kAscii;
}

std::string Render(const Chart& chart, Glyphs glyphs) {
  const Pen& pen = glyphs == Glyphs::kBlocks ? kBlockPen : kAsciiPen;
  const auto columns = Columns(chart);
  std::string out = chart.title + "\n";
  for (std::size_t row = kRows; row-- > 0;) {
    std::string line;
    for (const auto& value : columns) line += Cell(value, chart.top, row, pen);
    const bool top = row == kRows - 1;
    AppendLine(top        ? chart.top_label
               : row == 0 ? chart.bottom_label
                          : "",
               pen.edge, std::move(line), out);
  }
  AppendLine("", pen.corner, AxisText(chart, pen), out);
  return out;
}

}  // namespace rdmapulse::cli
