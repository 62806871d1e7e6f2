#include "daemon/cli/problems.h"

#include <fmt/format.h>

namespace rdmapulse::cli {

void AppendProblems(const collectors::Collection& collection,
                    std::vector<collectors::Problem>& problems) {
  for (const collectors::Reading& reading : collection.readings) {
    std::string subject = reading.device.empty() ? reading.netdev : reading.device;
    if (reading.port) subject += "/" + std::to_string(*reading.port);
    for (const collectors::Problem& problem : reading.problems) {
      problems.push_back(
          {fmt::format("{} {}/{}", subject, Name(reading.source), problem.name), problem.reason});
    }
  }
}

std::vector<std::string> Sentences(const std::vector<collectors::Problem>& problems) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < problems.size() && i < kProblemsShown; ++i)
    sentences.push_back("reading " + problems[i].name + ": " + problems[i].reason);
  if (problems.size() > kProblemsShown) {
    sentences.push_back(std::to_string(problems.size() - kProblemsShown) +
                        " more files could not be read");
  }
  return sentences;
}

}  // namespace rdmapulse::cli
