#include "tests/captures/statements.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rdmapulse::captures {
namespace {

// Why neither `scrape` nor `replay` can show a statement.
constexpr std::array<std::string_view, 4> kBeyond = {
    "audit: ", "verdict: ", "moments: ", "people: "};

bool SaysWhyBeyond(std::string_view text) {
  return std::any_of(kBeyond.begin(), kBeyond.end(), [text](std::string_view kind) {
    return text.starts_with(kind) && text.size() > kind.size();
  });
}

class Parser {
 public:
  // Empty: the line is understood.
  std::string_view Take(std::string_view line, int number) {
    if (line.empty() || line.starts_with('#')) return {};
    if (line == "!") return Add(Check::Kind::kQuiet, "", number);
    if (line == "-") return Add(Check::Kind::kNothing, "", number);
    const std::string_view sign = line.substr(0, line.find(' '));
    if (sign.size() == line.size()) return "a word alone";
    const std::string_view rest = line.substr(sign.size() + 1);
    if (rest.empty()) return "nothing follows";
    if (sign == "+") return Add(Check::Kind::kLine, rest, number);
    if (sign == "*") return Add(Check::Kind::kSomewhere, rest, number);
    if (sign == "-") return Add(Check::Kind::kNowhere, rest, number);
    if (sign == "!") return Add(Check::Kind::kComplaint, rest, number);
    if (sign == "exit") return Add(Check::Kind::kExitCode, rest, number);
    if (sign == "root") return Begin(Asked::Command::kScrape, rest);
    if (sign == "replay") return Begin(Asked::Command::kReplay, rest);
    const bool unchecked = std::exchange(unchecked_, sign == "=");
    if (unchecked) return "the statement before it is not checked";
    if (sign == "=") {
      ++statements_.checked;
      return {};
    }
    if (sign != "~") return "not understood";
    ++statements_.beyond;
    return SaysWhyBeyond(rest) ? "" : "neither audit:, verdict:, moments: nor people:";
  }

  bool unchecked() const { return unchecked_; }
  Statements Finish() { return std::move(statements_); }

 private:
  std::string_view Begin(Asked::Command command, std::string_view folder) {
    statements_.asked.push_back({command, folder == "." ? "" : std::string(folder), {}});
    return {};
  }

  std::string_view Add(Check::Kind kind, std::string_view text, int number) {
    if (statements_.asked.empty()) Begin(Asked::Command::kScrape, ".");
    statements_.asked.back().checks.push_back({kind, std::string(text), number});
    unchecked_ = false;
    return {};
  }

  Statements statements_;
  bool unchecked_ = false;
};

}  // namespace

Result<Statements> ParseStatements(std::string_view text) {
  Parser parser;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const std::string_view wrong = parser.Take(line, ++number); !wrong.empty())
      return Fail({"line ", std::to_string(number), ", '", line, "': ", wrong});
  }
  if (parser.unchecked()) return Fail({"the last statement is not checked"});
  return parser.Finish();
}

}  // namespace rdmapulse::captures
