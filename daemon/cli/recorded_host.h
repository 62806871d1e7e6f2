// A recorded host (design.md 5.2): which folders of DIR are to be read, and what could not be read
// there.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "collectors/recorded/recorded_errors.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::cli {

// One moment of the host: a folder that holds sysfs/, ethtool-S/ and so on.
struct Moment {
  std::string folder;
  collectors::recorded::RecordedErrors errors;

  bool operator==(const Moment&) const = default;
};

struct RecordedHost {
  std::string name;                  // host.yaml's, or the folder's own
  std::string kernel;                // empty: not said
  std::optional<Duration> interval;  // between moments; nullopt: not said
  std::vector<Moment> moments{};     // in order; one when the folder has none of its own

  bool operator==(const RecordedHost&) const = default;
};

// Between two moments of a host whose recorder did not say (design.md 5.2).
constexpr std::chrono::seconds kDefaultInterval{30};

// A folder of moments t0/, t1/, … or of one. Errors: there is no such folder, it is none of a
// recorded host, it holds several hosts (named in the text), host.yaml is broken.
Result<RecordedHost> OpenRecordedHost(const std::string& path);

// Of host.yaml. What it does not say is empty.
struct HostFile {
  std::string name;
  std::string kernel;
  std::optional<Duration> interval;
  collectors::recorded::RecordedErrors errors;

  bool operator==(const HostFile&) const = default;
};

// Pure. `path` is for the errors. Paths lose what says nothing ("./"), and an error that Linux does
// not have is taken as EIO, with a complaint.
Result<HostFile> ParseHostFile(const std::string& yaml, const std::string& path);

}  // namespace rdmapulse::cli
