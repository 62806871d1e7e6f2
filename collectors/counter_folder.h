// A sysfs folder of files that hold one number each: what counters/ and hw_counters/ have in
// common.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/reading.h"
#include "collectors/refusals.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::collectors {

// Files kept open between reads, per folder; the others (hfi1 has hundreds) are opened each time.
// mlx5 has 22 + 30 a port, bnxt 92.
constexpr std::size_t kMaxKeptOpen = 128;
// The set of files is fixed while a device is registered, and a device that goes away is noticed by
// its errors; listing again every so many reads covers whatever else may happen.
constexpr unsigned kReadsPerListing = 60;

struct FolderRules {
  std::span<const std::string_view> skip{};  // files that are no counters
  std::span<const std::string_view> only{};  // if there are any: the files that are counters
  std::string_view first{};                  // the file to read before the others, if it is there
  std::string_view prefix{};                 // of the values' names: "statistics/"
};

// What reading one source once brought.
struct SourceRead {
  bool exists = false;  // the kernel offers this source; else there is nothing to report
  bool success = true;  // see CollectorStatus
};

// Stateful, one thread, blocks. Names are the kernel's, read in byte order.
class CounterFolder {
 public:
  // `files` and what `rules` refers to must outlive it; `path`:
  // "class/infiniband/mlx5_0/hw_counters".
  CounterFolder(const KernelFiles& files, std::string path, const FolderRules& rules);

  // Appends values and problems to `reading`, which says the source. What the driver has refused is
  // not read again for a while (RefusalBackOff), but goes on being a problem.
  SourceRead ReadInto(TimePoint now, Reading& reading);

 private:
  struct File {
    std::string name;
    CounterName value_name;  // with the prefix
    UniqueFd fd;             // none: opened for each read
    RefusalBackOff refusal{};
  };

  Result<bool> ListFiles();  // false: there is no such folder
  tl::expected<std::string_view, int> ReadFile(const File& file);
  void ReadValue(TimePoint now, File& file, Reading& reading, SourceRead& read);

  const KernelFiles& files_;
  std::string path_;
  FolderRules rules_;
  std::vector<File> listed_;
  unsigned reads_left_ = 0;  // until the folder is listed again
  std::vector<char> buffer_;
};

}  // namespace rdmapulse::collectors
