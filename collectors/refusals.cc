#include "collectors/refusals.h"

#include <algorithm>

namespace rdmapulse::collectors {

void Refusals::KeepOnly(const std::vector<std::string>& subjects) {
  std::erase_if(until_, [&subjects](const auto& entry) {
    return !std::binary_search(subjects.begin(), subjects.end(), entry.first.first);
  });
}

}  // namespace rdmapulse::collectors
