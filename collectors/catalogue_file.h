// The text of one file of the catalogue as rows. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "collectors/catalogue.h"
#include "config/problem.h"

namespace rdmapulse::collectors {

struct CatalogueFile {
  std::vector<CatalogueRow> rows;         // in the order of the text; empty if something is wrong
  std::vector<config::Problem> problems;  // by line
};

// Ends at kRowsMax rows with a problem.
CatalogueFile ParseCatalogueFile(std::string_view yaml);

// More than ten times what all drivers together have.
inline constexpr std::size_t kRowsMax = 20'000;

struct SignalFile {
  std::vector<SignalInfo> signals;  // in order of their names
  std::vector<config::Problem> problems;
};

// Of the built-in list of signals.
SignalFile ParseSignalFile(std::string_view yaml);

}  // namespace rdmapulse::collectors
