// A recorded host (design.md 5.2): which folder of DIR is to be read, and what could not be read
// there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

struct RecordedHost {
  std::string name;                   // host.yaml's, or the folder's own
  std::string folder;                 // DIR, or its last moment
  std::map<std::string, int> errors;  // path under folder/sysfs → errno that the recorder got
  std::vector<std::string> parts;     // what of 5.2 the folder holds: "ethtool-S", "sysfs"

  bool operator==(const RecordedHost&) const = default;
};

// Of moments t0/, t1/, … the last one is taken. Errors: there is no such folder, it is none of a
// recorded host, it holds several hosts (named in the text), host.yaml is broken.
Result<RecordedHost> OpenRecordedHost(const std::string& path);

// Of host.yaml. What it does not say is empty.
struct HostFile {
  std::string name;
  std::map<std::string, int> errors;  // path relative to the folder → errno

  bool operator==(const HostFile&) const = default;
};

// Pure. `path` is for the errors.
Result<HostFile> ParseHostFile(const std::string& yaml, const std::string& path);

}  // namespace rdmapulse::cli
