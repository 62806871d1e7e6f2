#include "daemon/cli/chart.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <utility>

#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

constexpr auto kAbsent = std::nullopt;

// 68 columns: two each.
std::vector<std::optional<double>> Ramp() {
  std::vector<std::optional<double>> values(34);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  values[10] = values[11] = kAbsent;
  return values;
}

Chart Of(std::vector<std::optional<double>> values) {
  return {.title = "paused",
          .top_label = "33",
          .bottom_label = "0",
          .top = 33,
          .values = std::move(values),
          .worst_is_low = false,
          .begin_ago = 68,
          .mark_ago = 34};
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ChartTest, OfBlocksOnATerminal) {
  EXPECT_EQ(Render(Of(Ramp()), Glyphs::kBlocks),
            "paused\n"
            "        33 │                                                    ▁▁▂▂▃▃▄▄▅▅▆▆▇▇██\n"
            "           │                                    ▁▁▂▂▃▃▄▄▅▅▆▆▇▇██████████████████\n"
            "           │                  ▁▁    ▄▄▅▅▆▆▇▇████████████████████████████████████\n"
            "         0 │▁▁▂▂▂▂▃▃▄▄▅▅▆▆▇▇████    ████████████████████████████████████████████\n"
            "           └ 1 min 8 s ago ───────────────────▲ began 34 s ago ───────────── now\n");
}

TEST(ChartTest, OfAsciiElsewhere) {
  const std::string text = Render(Of(Ramp()), Glyphs::kAscii);
  EXPECT_EQ(Lines(text)[4],
            "         0 |__......::::::######    ############################################");
  EXPECT_EQ(Lines(text)[5],
            "           + 1 min 8 s ago -------------------^ began 34 s ago ------------- now");
}

TEST(ChartTest, NoLineIsWiderThanATerminal) {
  for (const double mark : {-5.0, 0.0, 1.0, 10.0, 30.0, 60.0, 67.9, 68.0, 1e9}) {
    for (const Glyphs glyphs : {Glyphs::kBlocks, Glyphs::kAscii}) {
      Chart chart = Of(Ramp());
      chart.mark_ago = mark;
      for (const std::string& line : Lines(Render(chart, glyphs))) EXPECT_LE(Width(line), 80U);
    }
  }
}

TEST(ChartTest, TheMarkStandsWhereItBegan) {
  const auto axis = [](double mark_ago) {
    Chart chart = Of(Ramp());
    chart.mark_ago = mark_ago;
    return Lines(Render(chart, Glyphs::kAscii)).back();
  };
  EXPECT_EQ(axis(8),
            "           + 1 min 8 s ago ------------------------------ began 8 s ago ^--- now")
      << "no room at its right";
  EXPECT_EQ(axis(66),
            "           +--^ began 1 min 6 s ago ---------------------------------------- now")
      << "no room for the beginning";
  EXPECT_EQ(axis(3600),
            "           + 1 min 8 s ago (began 1 h 0 min ago) --------------------------- now");
}

TEST(ChartTest, WhatSharesAColumnShowsWhatHurts) {
  std::vector<std::optional<double>> values(136, 0.0);
  values[1] = 33;
  EXPECT_EQ(Lines(Render(Of(values), Glyphs::kAscii))[1].substr(0, 13), "        33 |#");
  values.assign(136, 33.0);
  values[1] = 0;
  Chart down = Of(values);
  down.worst_is_low = true;
  EXPECT_EQ(Lines(Render(down, Glyphs::kAscii))[4].substr(0, 14), "         0 |_#");
}

TEST(ChartTest, TheLeastThatIsNotZeroIsSeen) {
  EXPECT_EQ(Lines(Render(Of({0, 1e-9}), Glyphs::kBlocks))[4].substr(sizeof("         0 │") - 1),
            [] {
              std::string line;
              for (int i = 0; i < 34; ++i) line += "▁";
              for (int i = 0; i < 34; ++i) line += "▂";
              return line;
            }());
}

TEST(ChartTest, HostileNumbersAreDrawnAsFarAsTheyGo) {
  constexpr double kMost = std::numeric_limits<double>::max();
  Chart chart = Of({kMost, -kMost, 0});
  for (const double top : {0.0, -1.0, kMost, std::numeric_limits<double>::denorm_min()}) {
    chart.top = top;
    EXPECT_EQ(Lines(Render(chart, Glyphs::kBlocks)).size(), 6U);
  }
  EXPECT_EQ(Lines(Render(Of({}), Glyphs::kBlocks)).size(), 6U);
}

TEST(GlyphsTest, BlocksAreForTerminalsWithUtf8) {
  EXPECT_EQ(GlyphsFor(true, nullptr, nullptr, "en_US.UTF-8"), Glyphs::kBlocks);
  EXPECT_EQ(GlyphsFor(true, "", nullptr, "de_DE.utf8"), Glyphs::kBlocks);
  EXPECT_EQ(GlyphsFor(false, nullptr, nullptr, "en_US.UTF-8"), Glyphs::kAscii);
  EXPECT_EQ(GlyphsFor(true, "C", nullptr, "en_US.UTF-8"), Glyphs::kAscii);
  EXPECT_EQ(GlyphsFor(true, nullptr, "POSIX", "en_US.UTF-8"), Glyphs::kAscii);
  EXPECT_EQ(GlyphsFor(true, nullptr, nullptr, nullptr), Glyphs::kAscii);
}

}  // namespace
}  // namespace rdmapulse::cli
