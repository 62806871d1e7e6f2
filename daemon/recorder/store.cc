#include "daemon/recorder/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "daemon/health/conditions.h"
#include "daemon/health/finding_json.h"

namespace rdmapulse::recorder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "recording-";
constexpr std::string_view kUnfinished = ".recording-";
constexpr std::string_view kFull = "make room there, or lower recorder.max_bytes";
constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;

struct File {
  std::string_view name;
  std::string bytes;
};

Result<void> WriteAll(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(errno, {"writing ", path}, kFull);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd) != 0) return Fail(errno, {"writing ", path}, kFull);
  return {};
}

Result<void> WriteFile(const std::string& path, std::string_view bytes) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
  if (!fd) return Fail(errno, {"creating ", path}, kFull);
  return WriteAll(fd.get(), path, bytes);
}

// The entry of a renamed folder is on the disk once its parent is.
Result<void> Flush(const std::string& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Fail(errno, {"opening ", folder});
  if (fsync(fd.get()) != 0) return Fail(errno, {"writing ", folder}, kFull);
  return {};
}

std::string Plain(std::string_view name) {
  std::string plain(name.substr(0, 64));
  for (char& c : plain) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '.';
    if (!kept) c = '_';
  }
  return plain;
}

struct Kept {
  fs::path path;
  std::uint64_t bytes = 0;
};

// Whole recordings, oldest first; what an earlier run left half written is removed.
Result<std::vector<Kept>> List(const std::string& dir) {
  std::error_code error;
  std::vector<Kept> kept;
  fs::directory_iterator entries(dir, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.starts_with(kUnfinished)) fs::remove_all(entries->path(), error);
    if (!name.starts_with(kPrefix)) continue;
    std::uint64_t bytes = 0;
    std::error_code ignored;
    for (const fs::directory_entry& file : fs::directory_iterator(entries->path(), ignored)) {
      const std::uintmax_t size = file.file_size(ignored);
      if (!ignored) bytes += size;
    }
    kept.push_back({entries->path(), bytes});
  }
  if (error) return Fail(error.value(), {"reading ", dir});
  // The time is the first thing in the name.
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.path < b.path; });
  return kept;
}

}  // namespace

std::string FolderName(const health::Finding& finding) {
  const std::int64_t us = finding.time.count();
  constexpr std::int64_t kSecond = 1'000'000;
  const std::time_t seconds = us / kSecond;
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text = {};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &utc);
  std::string name = fmt::format("{}{}.{:06}Z-{}", kPrefix, std::string_view(text.data(), length),
                                 us % kSecond, Name(finding.condition));
  const health::Subject& subject = finding.subject;
  if (!subject.port.device.empty()) name += "-" + Plain(subject.port.device);
  if (subject.port.port) name += "-" + std::to_string(*subject.port.port);
  if (!subject.peer.empty()) name += "-" + Plain(subject.peer);
  return name;
}

Result<void> Store::MakeRoom(std::uint64_t bytes) const {
  const auto listed = List(settings_.dir);
  if (!listed) return tl::unexpected(listed.error());
  std::uint64_t all = bytes;
  for (const Kept& one : *listed) all += one.bytes;
  std::size_t count = listed->size() + 1;
  for (const Kept& one : *listed) {
    if (all <= settings_.max_bytes && count <= settings_.max_recordings) break;
    std::error_code error;
    fs::remove_all(one.path, error);
    if (error) return Fail(error.value(), {"removing ", one.path.string()});
    all -= one.bytes;
    --count;
  }
  return {};
}

Result<std::string> Store::Save(const Recording& recording, const health::Finding& finding) const {
  auto hosts = HostsCsvGz(recording);
  if (!hosts) return hosts;
  auto probes = ProbesCsvGz(recording);
  if (!probes) return probes;
  const std::array<File, 3> files = {{{"hosts.csv.gz", std::move(*hosts)},
                                      {"probes.csv.gz", std::move(*probes)},
                                      {"finding.json", health::Json(finding) + "\n"}}};
  std::uint64_t bytes = 0;
  for (const File& file : files) bytes += file.bytes.size();
  const std::string name = FolderName(finding);
  if (bytes > settings_.max_bytes) {
    return Fail({"writing ", name, ": its ", std::to_string(bytes),
                 " bytes are more than recorder.max_bytes"},
                "raise it, or lower recorder.window");
  }
  std::error_code error;
  fs::create_directories(settings_.dir, error);
  if (error) return Fail(error.value(), {"creating ", settings_.dir}, "see recorder.dir");
  if (const auto room = MakeRoom(bytes); !room) return tl::unexpected(room.error());

  const std::string unfinished = settings_.dir + "/." + name;
  if (mkdir(unfinished.c_str(), kFolderMode) != 0) {
    return Fail(errno, {"creating ", unfinished}, "see recorder.dir");
  }
  Result<void> written;
  for (const File& file : files) {
    std::string path = unfinished;
    path += '/';
    path += file.name;
    written = WriteFile(path, file.bytes);
    if (!written) break;
  }
  if (written) written = Flush(unfinished);
  std::string folder = settings_.dir + "/" + name;
  if (written && rename(unfinished.c_str(), folder.c_str()) != 0) {
    written = Fail(errno, {"renaming ", unfinished});
  }
  if (written) written = Flush(settings_.dir);
  if (!written) {
    fs::remove_all(unfinished, error);
    return tl::unexpected(written.error());
  }
  return folder;
}

}  // namespace rdmapulse::recorder
