// What is known to be right to say of each capture, asked of the program itself; see README.md.
#include "tests/captures/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/captures/capture_names.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::captures {
namespace {

namespace fs = std::filesystem;

std::string Content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int exit_code = -1;
  std::vector<std::string> lines{};
  std::string error{};
};

Outcome Ask(Asked::Command command, const std::string& root) {
  const fs::path scratch = fs::path(::testing::TempDir());
  const std::string out = scratch / "out";
  const std::string error = scratch / "error";
  const std::string ran = std::string("daemon/cli/rdmapulse ") +
                          (command == Asked::Command::kReplay ? "replay --json" : "scrape --root") +
                          " '" + root + "' >'" + out + "' 2>'" + error + "'";
  const int status = std::system(ran.c_str());
  Outcome outcome{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                  .error = Content(error)};
  std::ifstream text(out);
  for (std::string line; std::getline(text, line);) outcome.lines.push_back(line);
  return outcome;
}

class StatementsTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void Hold(const Check& check, const Outcome& outcome) {
    const auto& lines = outcome.lines;
    switch (check.kind) {
      case Check::Kind::kLine: EXPECT_THAT(lines, ::testing::Contains(check.text)); break;
      case Check::Kind::kNowhere: {
        const auto found = std::find_if(lines.begin(), lines.end(), [&check](auto& line) {
          return !line.starts_with('#') && line.find(check.text) != std::string::npos;
        });
        EXPECT_TRUE(found == lines.end()) << *found;
        break;
      }
      case Check::Kind::kSomewhere:
        EXPECT_THAT(lines, ::testing::Contains(::testing::HasSubstr(check.text)));
        break;
      case Check::Kind::kNothing: EXPECT_THAT(lines, ::testing::IsEmpty()); break;
      case Check::Kind::kComplaint:
        EXPECT_THAT(outcome.error, ::testing::HasSubstr(check.text));
        break;
      case Check::Kind::kQuiet: EXPECT_EQ(outcome.error, ""); break;
      case Check::Kind::kExitCode: break;  // expected of every run
    }
  }

  static int ExitCode(const Asked& asked) {
    for (const Check& check : asked.checks) {
      if (check.kind == Check::Kind::kExitCode) return std::stoi(check.text);
    }
    return 0;
  }
};

TEST_P(StatementsTest, Hold) {
  const auto statements = ParseStatements(Content(kFolder + ("statements/" + GetParam() + ".txt")));
  ASSERT_TRUE(statements.has_value()) << statements.error().Text();
  const auto tree = fakes::Tree::FromFile(kFolder + ("data/" + GetParam()) + ".tree");
  for (const Asked& asked : statements->asked) {
    SCOPED_TRACE("root " + asked.folder);
    const Outcome outcome = Ask(asked.command, tree.Root() + "/" + asked.folder);
    EXPECT_EQ(outcome.exit_code, ExitCode(asked)) << outcome.error;
    for (const Check& check : asked.checks) {
      SCOPED_TRACE(GetParam() + ".txt:" + std::to_string(check.number));
      Hold(check, outcome);
    }
  }
}

// The head of a capture says how many statements its source makes.
TEST_P(StatementsTest, AreAsManyAsTheSourceMakes) {
  const auto statements = ParseStatements(Content(kFolder + ("statements/" + GetParam() + ".txt")));
  ASSERT_TRUE(statements.has_value()) << statements.error().Text();
  const std::string tree = Content(kFolder + ("data/" + GetParam() + ".tree"));
  constexpr std::string_view kKey = "# statements: ";
  const std::size_t at = tree.find(kKey);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(statements->checked + statements->beyond, std::stoi(tree.substr(at + kKey.size())));
}

INSTANTIATE_TEST_SUITE_P(Captures, StatementsTest, ::testing::ValuesIn(Names()), TestName);

TEST(AllStatementsTest, AreThere) { EXPECT_GE(Names().size(), kCapturesAtLeast); }

TEST(ParseStatementsTest, KnowsEveryKindOfLine) {
  const auto read = ParseStatements(
      "# a remark\n= one\n+ line 1\n* some\n- nowhere\n! said\n!\nexit 2\n\nroot a/b\n~ audit: "
      "two\n"
      "replay .\n= three\n-\n");
  ASSERT_TRUE(read.has_value()) << read.error().Text();
  using K = Check::Kind;
  using C = Asked::Command;
  EXPECT_EQ(*read, (Statements{{{C::kScrape,
                                 "",
                                 {{K::kLine, "line 1", 3},
                                  {K::kSomewhere, "some", 4},
                                  {K::kNowhere, "nowhere", 5},
                                  {K::kComplaint, "said", 6},
                                  {K::kQuiet, "", 7},
                                  {K::kExitCode, "2", 8}}},
                                {C::kScrape, "a/b", {}},
                                {C::kReplay, "", {{K::kNothing, "", 14}}}},
                               2,
                               1}));
}

TEST(ParseStatementsTest, AStatementThatNothingChecksIsAnError) {
  EXPECT_EQ(ParseStatements("= one\n= two\n+ x\n").error().Text(),
            "line 2, '= two': the statement before it is not checked");
  EXPECT_EQ(ParseStatements("= one\n").error().Text(), "the last statement is not checked");
  EXPECT_EQ(ParseStatements("~ because\n").error().Text(),
            "line 1, '~ because': neither audit:, verdict:, moments: nor people:");
  EXPECT_EQ(ParseStatements("?? x\n").error().Text(), "line 1, '?? x': not understood");
  EXPECT_EQ(ParseStatements("+\n").error().Text(), "line 1, '+': a word alone");
}

}  // namespace
}  // namespace rdmapulse::captures
