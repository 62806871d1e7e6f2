#include "daemon/cli/table.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

TEST(RenderTableTest, AlignsByCharactersAndNotByBytes) {
  EXPECT_EQ(RenderTable({{"PEER"}, {"P50", Align::kRight}, {"STATE"}},
                        {{{"h2", "12.3 µs", "rts"}, ""}, {{"long-name", "800 ns", "-"}, ""}}),
            "PEER           P50  STATE\n"
            "h2         12.3 µs  rts\n"
            "long-name   800 ns  -\n");
}

TEST(RenderTableTest, PutsNotesBelowTheirRowsAndSkipsEmptyColumns) {
  EXPECT_EQ(RenderTable({{"A"}, {""}, {"B"}}, {{{"1", "", "2"}, "because"}, {{"3"}, ""}}),
            "A  B\n"
            "1  2\n"
            "    because\n"
            "3\n");
}

TEST(RenderTableTest, KeepsAnUntitledColumnThatHoldsSomething) {
  EXPECT_EQ(RenderTable({{"A"}, {""}}, {{{"1", "!"}, ""}, {{"2", ""}, ""}}), "A\n1  !\n2\n");
}

TEST(RenderTableTest, WithoutRowsIsItsTitles) {
  EXPECT_EQ(RenderTable({{"A"}, {"B"}}, {}), "A  B\n");
}

TEST(WrapTest, FillsALineToTheLastColumnAndNotBeyond) {
  const std::string word(38, 'x');
  // 2 + 38 + 1 + 39 = 80
  EXPECT_EQ(Wrap(word + " " + word + "y", 2), "  " + word + " " + word + "y\n");
  EXPECT_EQ(Wrap(word + " " + word + "yz", 2), "  " + word + "\n  " + word + "yz\n");
}

TEST(WrapTest, GivesALongWordItsOwnLine) {
  const std::string word(100, 'x');
  EXPECT_EQ(Wrap("a " + word + " b", 0), "a\n" + word + "\nb\n");
}

TEST(WrapTest, NothingIsNoLine) {
  EXPECT_EQ(Wrap("", 4), "");
  EXPECT_EQ(Wrap("  \n ", 4), "");
}

TEST(PrintableTest, TakesTheSenseOutOfEscapeSequences) {
  EXPECT_EQ(Printable("a\x1b[31mb\x07"), "a?[31mb?");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "?31m");
  EXPECT_EQ(Printable("\x7F\n\t"), "???");
  EXPECT_EQ(Printable("12 µs, é, \xC2\xA0"), "12 µs, é, \xC2\xA0");
}

}  // namespace
}  // namespace rdmapulse::cli
