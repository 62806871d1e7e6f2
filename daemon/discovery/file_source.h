// Peers from files in Prometheus' file_sd format. Blocking: a file may stand on a network file
// system. Used by one thread at a time.
//
// Whether a file has changed is asked of stat, again and again, since inotify says nothing on
// network file systems and little about a ConfigMap, which is swapped by links two folders up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "daemon/discovery/source_state.h"

namespace rdmapulse::discovery {

class FileSource {
 public:
  // `pattern`: a path with the wildcards of glob(7), valid (config::CheckFilePattern).
  explicit FileSource(std::string pattern) : pattern_(std::move(pattern)) {}

  // Reads what has changed since the last call, or everything when `reread`. A file that cannot be
  // read keeps its last good list; one that a wildcard does not find any more is forgotten, unless
  // it finds nothing at all, which is a failure.
  Fetched Look(bool reread);

 private:
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;

    bool operator==(const Stamp&) const = default;
  };
  struct File {
    Stamp stamp;
    TargetList list;
    std::string failure;
    bool read = false;  // at least once, well or not
  };

  Result<std::vector<std::string>> Paths() const;
  bool Refresh(const std::string& path, File& file, bool reread);
  TargetList Union() const;

  const std::string pattern_;
  std::map<std::string, File> files_;  // in glob's order
};

}  // namespace rdmapulse::discovery
