// Kernel files read with a limit of time: a driver whose firmware does not answer keeps its reader
// for a minute, and a recording has thousands of files to read.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::cli {

// One that takes longer is left to itself, and the files of its folder are not asked again: both
// fail with ETIMEDOUT. The results are those of KernelFiles.
class PatientFiles {
 public:
  PatientFiles(std::shared_ptr<const collectors::KernelFiles> files, Duration patience)
      : files_(std::move(files)), patience_(patience) {}

  Result<std::optional<std::string>> ReadText(const std::string& path);
  Result<std::optional<std::vector<std::string>>> List(const std::string& path);
  Result<std::optional<std::string>> ReadLink(const std::string& path);

 private:
  template <typename T, typename Read>
  Result<T> Ask(const std::string& path, Read read);

  // Shared with the threads that are left to themselves.
  std::shared_ptr<const collectors::KernelFiles> files_;
  Duration patience_;
  std::set<std::string> stuck_;  // folders
};

}  // namespace rdmapulse::cli
