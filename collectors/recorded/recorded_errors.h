// What the recorder of a host could not read, as its host.yaml says (design.md 5.2).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rdmapulse::collectors::recorded {

struct RecordedErrors {
  std::map<std::string, int> codes{};     // path under the folder → errno
  std::vector<std::string> complaints{};  // of host.yaml, in whole sentences

  bool operator==(const RecordedErrors&) const = default;
};

}  // namespace rdmapulse::collectors::recorded
