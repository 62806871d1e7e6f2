#include "daemon/catalogue_files.h"

#include <utility>

#include "config/load.h"

namespace rdmapulse {

LoadedCatalogue LoadCatalogue(const std::vector<std::string>& files) {
  LoadedCatalogue loaded;
  collectors::Catalogue catalogue = collectors::Catalogue::BuiltIn();
  for (const std::string& file : files) {
    const Result<std::string> text = config::ReadFile(file);
    if (!text) {
      loaded.problems.push_back("collect.catalogue: " + text.error().Text());
      continue;
    }
    for (const config::Problem& problem : catalogue.Add(*text))
      loaded.problems.push_back(config::Format(problem, file));
  }
  loaded.catalogue = std::make_shared<const collectors::Catalogue>(std::move(catalogue));
  return loaded;
}

}  // namespace rdmapulse
