// The kernel's small text files under one root: "/sys" live, or the sysfs of a recorded host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::collectors {

// A sysfs attribute is at most one page; what is longer is not one and is refused (EFBIG).
constexpr std::size_t kMaxFileBytes = 4096;
// hfi1 has several hundred files in one folder, a GID table up to 1024 entries; past this the rest
// of a folder would be a surprise, so listing it fails (E2BIG).
constexpr std::size_t kMaxFolderEntries = 4096;

enum class Links {
  kFollow,  // as the kernel made them: live
  // A recorded host: no link leads out of the root, and a file that holds nothing but a relative
  // path
  // ("../../devices/…") is taken for the link that git, unpacking without links, made a file of.
  kInsideRoot,
};

// Reading never creates or writes. Const and usable from several threads at a time; it must outlive
// whatever was given a reference to it. Reads block: some are answered by firmware or wait for the
// network lock. Paths are relative to the root: "class/infiniband/mlx5_0/fw_ver".
//
// In every result nullopt means absent (ENOENT, ENOTDIR): it is not there, which is no error. An
// Error carries the errno.
class KernelFiles {
 public:
  // `errors`: path → errno that reading it gives, by whichever links it is reached.
  explicit KernelFiles(std::string root, Links links = Links::kFollow,
                       const std::map<std::string, int>& errors = {});

  const std::string& Root() const { return root_; }
  // Why the root itself cannot be read; 0: it can.
  int RootError() const { return root_error_; }

  // The text as it is, newline included.
  Result<std::optional<std::string>> ReadText(const std::string& path) const;
  // The names in a folder, sorted by bytes, with those that `errors` names in it.
  Result<std::optional<std::vector<std::string>>> List(const std::string& path) const;
  // False: there is none, or what is there is no folder. One that cannot be had is there.
  bool HasFolder(const std::string& path) const;
  // The inode of a folder; nullopt: it cannot be had.
  std::optional<std::uint64_t> FolderNumber(const std::string& path) const;
  // Of `errors` the paths that nobody has read and that lead to nothing.
  std::vector<std::string> UnmetErrors() const;
  // Where a link points, as it is written. Absent also when the file is no link.
  Result<std::optional<std::string>> ReadLink(const std::string& path) const;
  // For files that are read again and again, with ReadFromStart.
  Result<std::optional<UniqueFd>> Open(const std::string& path) const;

 private:
  struct Planned {
    std::string path;  // as it was given
    int error = 0;
    mutable std::atomic<bool> met = false;

    Planned(std::string path_given, int code) : path(std::move(path_given)), error(code) {}
  };

  tl::expected<UniqueFd, int> OpenRaw(const std::string& path, int flags) const;
  tl::expected<UniqueFd, int> OpenThroughLinks(const std::string& path, int flags) const;
  std::optional<int> PlannedError(const std::string& path) const;
  std::string Resolve(const std::string& path) const;
  tl::expected<UniqueFd, int> OpenOnce(const std::string& path, int flags) const;
  std::string FollowOneTextLink(const std::string& path) const;
  void AddRefused(const std::string& folder, std::vector<std::string>& names) const;

  std::string root_;
  Links links_;
  // What a recorded host could not read, by where it is once all links are followed.
  std::map<std::string, Planned> errors_;
  UniqueFd root_fd_;
  std::string root_place_;  // without links, for Resolve
  int root_error_ = 0;
};

// One attempt at the file from its beginning, which makes the kernel produce the text anew. The
// buffer should hold kMaxFileBytes + 1 bytes. The error is an errno; the text lives in the buffer.
tl::expected<std::string_view, int> ReadFromStart(int fd, std::span<char> buffer);

// One decimal number of 64 bits, exactly. nullopt: the text says that there is no value ("N/A (no
// PMA)", or nothing at all). Anything else is an Error without errno: "not a number: 'abc'".
Result<std::optional<std::uint64_t>> ParseCounter(std::string_view text);

// Without blanks, newlines and NULs at both ends.
std::string_view Trim(std::string_view text);
// Fit for a log line or a label: at most 40 characters, and '?' for what is not printable ASCII.
std::string Printable(std::string_view text);

}  // namespace rdmapulse::collectors
