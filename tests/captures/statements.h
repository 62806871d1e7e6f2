// What is right to say of a capture: statements/NAME.txt, in the format that README.md explains.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::captures {

struct Check {
  enum class Kind {
    kLine,       // `+`: a line of what is printed
    kSomewhere,  // `*`: in some line
    kNowhere,    // `-`: in no line
    kNothing,    // `-` alone: nothing is printed
    kComplaint,  // `!`: on standard error
    kQuiet,      // `!` alone: standard error is empty
    kExitCode,   // `exit`
  };
  Kind kind = Kind::kLine;
  std::string text{};  // of kExitCode: the number
  int number = 0;      // of its line

  bool operator==(const Check&) const = default;
};

// What is asked of one run of the program.
struct Asked {
  enum class Command { kScrape, kReplay };
  Command command = Command::kScrape;
  std::string folder{};  // below the capture's; empty: itself
  std::vector<Check> checks{};

  bool operator==(const Asked&) const = default;
};

struct Statements {
  std::vector<Asked> asked{};
  int checked = 0;  // `=`
  int beyond = 0;   // `~`

  bool operator==(const Statements&) const = default;
};

// The error names the line. A statement that nothing checks is one.
Result<Statements> ParseStatements(std::string_view text);

}  // namespace rdmapulse::captures
