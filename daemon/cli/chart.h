// A curve as a little chart of text, 80 columns wide. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmapulse::cli {

// What a chart is drawn with.
enum class Glyphs : std::uint8_t {
  kBlocks,  // UTF-8, eight heights in a line
  kAscii,   // for a pipe, a file, a terminal that knows nothing else
};

// Blocks on a terminal whose locale says UTF-8; the arguments are the variables LC_ALL, LC_CTYPE
// and LANG, of which the first that is set and not empty counts; null: not set.
Glyphs GlyphsFor(bool terminal, const char* lc_all, const char* lc_ctype, const char* lang);

struct Chart {
  std::string title{};
  std::string top_label{};
  std::string bottom_label{};
  double top = 1;  // the value at the upper edge; 0 is at the lower
  std::vector<std::optional<double>> values{};
  bool worst_is_low = false;  // where several values share a column the lowest is shown
  double begin_ago = 0;       // seconds between the left edge and the right
  double mark_ago = 0;        // seconds from the event to the right edge
};

// Title, chart, axis. Zero is a line at the bottom, what is not known is blank.
std::string Render(const Chart& chart, Glyphs glyphs);

}  // namespace rdmapulse::cli
