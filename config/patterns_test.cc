#include "config/patterns.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rdmapulse::config {
namespace {

Patterns Compiled(const std::vector<std::string>& texts) {
  Result<Patterns> patterns = Patterns::Compile(texts);
  EXPECT_TRUE(patterns) << patterns.error().Text();
  return patterns ? *std::move(patterns) : Patterns();
}

std::string CompileError(const std::string& text) {
  const Result<Patterns> patterns = Patterns::Compile({text});
  return patterns ? "compiled" : patterns.error().Text();
}

TEST(PatternsTest, AnyOfThemMatchesTheWholeName) {
  const Patterns patterns = Compiled({"mlx5_[0-9]+", "bnxt_re0"});
  EXPECT_TRUE(patterns.MatchesAny("mlx5_12"));
  EXPECT_TRUE(patterns.MatchesAny("bnxt_re0"));
  EXPECT_FALSE(patterns.MatchesAny("mlx5_"));
  EXPECT_FALSE(patterns.MatchesAny("xmlx5_1"));
  EXPECT_FALSE(patterns.MatchesAny("mlx5_1x"));
}

TEST(PatternsTest, NoPatternMatchesNothing) {
  EXPECT_FALSE(Compiled({}).MatchesAny(""));
  EXPECT_FALSE(Patterns().MatchesAny("mlx5_0"));
  EXPECT_TRUE(Compiled({""}).MatchesAny(""));
}

TEST(PatternsTest, MovedFromMatchesNothing) {
  Patterns from = Compiled({".*"});
  const Patterns to = std::move(from);
  EXPECT_TRUE(to.MatchesAny("mlx5_0"));
}

TEST(PatternsTest, SaysWhyAPatternDoesNotCompile) {
  EXPECT_EQ(CompileError("*"),
            "\"*\" is not a regular expression: its parentheses do not pair, or a *, +, ? or { has "
            "nothing before it to repeat; write .* where a shell would take *");
  EXPECT_EQ(CompileError("mlx5_[0-9"),
            "\"mlx5_[0-9\" is not a regular expression: its square brackets do not pair");
  EXPECT_EQ(CompileError("[9-0]"),
            "\"[9-0]\" is not a regular expression: a range in square brackets runs backwards");
  EXPECT_EQ(CompileError("a\\"),
            "\"a\\\" is not a regular expression: a backslash has nothing behind it to escape");
  EXPECT_EQ(CompileError("(a)\\1"),
            "\"(a)\\1\" is not a regular expression: back-references are not supported");
}

TEST(PatternsTest, LengthIsLimited) {
  EXPECT_EQ(CompileError(std::string(256, 'a')), "compiled");
  EXPECT_NE(CompileError(std::string(257, 'a')).find("has more than 256 bytes"), std::string::npos);
  EXPECT_TRUE(Compiled({".*"}).MatchesAny(std::string(256, 'a')));
  EXPECT_FALSE(Compiled({".*"}).MatchesAny(std::string(257, 'a')));
}

TEST(PatternsTest, RepeatCountsAreLimited) {
  EXPECT_EQ(CompileError("a{50}"), "compiled");
  EXPECT_EQ(CompileError("(a{5}){10}"), "compiled");
  for (const std::string bad : {"a{51}", "(a{1,5}){11}", "a{0,51}", "a{51,}", "((a{4}){4}){4}",
                                "a{99999999999999999999}", "a{1,999999999999}"}) {
    EXPECT_EQ(CompileError(bad), "the repeat counts of the pattern \"" + bad +
                                     "\" multiply to more than 50; use * or + instead of counts");
  }
}

// Backtracking would take longer than the universe has.
TEST(PatternsTest, NoPatternMatchesSlowly) {
  const std::string text(256, 'a');
  EXPECT_FALSE(Compiled({"(a+)+b"}).MatchesAny(text));
  EXPECT_FALSE(Compiled({"(a|aa)+b"}).MatchesAny(text));
  EXPECT_FALSE(Compiled({"((((((a*)*)*)*)*)*)*b"}).MatchesAny(text));
}

// The largest that is allowed, and the deepest: what matches them has room on the stack.
TEST(PatternsTest, LargestPatternsFitOnTheStack) {
  std::string options;
  while (options.size() < 246) options += "a?";
  EXPECT_TRUE(Compiled({"(" + options + "){50}"}).MatchesAny(std::string(256, 'a')));
  EXPECT_TRUE(Compiled({std::string(127, '(') + "a" + std::string(127, ')')}).MatchesAny("a"));
}

}  // namespace
}  // namespace rdmapulse::config
