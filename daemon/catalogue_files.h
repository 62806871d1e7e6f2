// The built-in catalogue of counters with an operator's own files laid over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectors/catalogue.h"

namespace rdmapulse {

struct LoadedCatalogue {
  std::shared_ptr<const collectors::Catalogue> catalogue;  // with those files that are right
  std::vector<std::string> problems;  // "/etc/mynic.yaml:3:5: ethtool[0].signal: …"
};

// Of `collect.catalogue`; a later file holds before an earlier one. Reads files.
LoadedCatalogue LoadCatalogue(const std::vector<std::string>& files);

}  // namespace rdmapulse
