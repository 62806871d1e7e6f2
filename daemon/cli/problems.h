// What could not be read, in sentences for standard error: a value that is not there is no word
// about why. Pure.
#pragma once

#include <string>
#include <vector>

#include "collectors/reading.h"

namespace rdmapulse::cli {

// A host with many virtual functions can have hundreds of alike ones.
constexpr std::size_t kProblemsShown = 10;

// "reading NAME: REASON", the first kProblemsShown, and how many more there are.
std::vector<std::string> Sentences(const std::vector<collectors::Problem>& problems);

}  // namespace rdmapulse::cli
