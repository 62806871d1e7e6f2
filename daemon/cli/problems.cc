#include "daemon/cli/problems.h"

namespace rdmapulse::cli {

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
