// rdmapulse: asks the daemon of this host, or reads its counters once.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <variant>

#include "daemon/cli/arguments.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"

namespace rdmapulse::cli {
namespace {

void Complain(const std::string& sentence) { std::fprintf(stderr, "%s\n", sentence.c_str()); }

Result<int> Run(const Finished& finished) {
  if (!finished.error.empty()) Complain(finished.error);
  const Result<Printed> printed = Print(finished.output);
  if (!printed) return tl::unexpected(printed.error());
  return finished.exit_code;
}

int Main(int argc, const char* const* argv) {
  // A reader that left is told apart from other failures by EPIPE; see Print.
  std::signal(SIGPIPE, SIG_IGN);
  const Command command = ParseArguments(argc, argv);
  const Result<int> code =
      std::visit([](const auto& chosen) -> Result<int> { return Run(chosen); }, command);
  if (code) return *code;
  Complain("rdmapulse: " + code.error().Text());
  return kExitError;
}

}  // namespace
}  // namespace rdmapulse::cli

int main(int argc, char** argv) {
  try {
    return rdmapulse::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rdmapulse: an error that nobody expected: %s\n", error.what());
    return rdmapulse::cli::kExitError;
  }
}
