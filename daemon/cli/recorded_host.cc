#include "daemon/cli/recorded_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace rdmapulse::cli {
namespace {

namespace fs = std::filesystem;

// Folders that make a folder a recorded host (design.md 5.2).
constexpr std::array<std::string_view, 8> kParts = {
    "dcb",       "ethtool-I-a", "ethtool-S",      "ethtool-a",
    "ethtool-i", "mlnx_qos",    "rdma-statistic", "sysfs"};
// Only evidence for the sentence; naming more helps nobody.
constexpr std::size_t kNamedMax = 10;
constexpr std::size_t kHostFileBytesMax = 1U << 20;

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> PartsOf(const fs::path& folder) {
  std::vector<std::string> parts;
  for (const std::string_view part : kParts) {
    if (IsFolder(folder / part)) parts.emplace_back(part);
  }
  return parts;
}

// 12 of "t12".
std::optional<std::uint32_t> MomentNumber(const std::string& name) {
  if (name.size() < 2 || name[0] != 't') return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + 1, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

struct SubFolders {
  std::vector<std::pair<std::uint32_t, std::string>> moments;  // ascending
  std::vector<std::string> others;                             // each a host, or moments of one
};

SubFolders Look(const fs::path& folder) {
  SubFolders found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!IsFolder(it->path())) continue;
    std::string name = it->path().filename().string();
    const bool has_parts = !PartsOf(it->path()).empty();
    if (const auto number = MomentNumber(name); number && has_parts) {
      found.moments.emplace_back(*number, std::move(name));
    } else if (has_parts || IsFolder(it->path() / "t0")) {
      found.others.push_back(std::move(name));
    }
  }
  std::sort(found.moments.begin(), found.moments.end());
  std::sort(found.others.begin(), found.others.end());
  return found;
}

Result<HostFile> ReadHostFile(const fs::path& folder) {
  const std::string path = folder / "host.yaml";
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return HostFile{};
  if (error) return Fail(error.value(), {"reading ", path});
  if (size > kHostFileBytesMax) return Fail({"reading ", path, ": it is larger than 1 MiB"});
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Fail({"reading ", path, ": it cannot be read"});
  return ParseHostFile(text, path);
}

// `errors` counts from the folder, the reader of sysfs from folder/sysfs.
std::map<std::string, int> UnderSysfs(const std::map<std::string, int>& errors) {
  constexpr std::string_view kSysfs = "sysfs/";
  std::map<std::string, int> under;
  for (const auto& [path, code] : errors) {
    if (path.starts_with(kSysfs)) under[path.substr(kSysfs.size())] = code;
  }
  return under;
}

std::string OwnName(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  return error ? folder.string() : whole.filename().string();
}

Result<fs::path> ChooseFolder(const fs::path& top) {
  if (!PartsOf(top).empty()) return top;
  SubFolders found = Look(top);
  if (!found.others.empty()) {
    const std::size_t count = found.others.size();
    if (count > kNamedMax) found.others.resize(kNamedMax);
    return Fail(
        {"reading ", top.native(), ": it holds several hosts: ",
         fmt::format("{}{}", fmt::join(found.others, ", "), count > kNamedMax ? ", …" : "")},
        "name one of them");
  }
  if (!found.moments.empty()) return top / found.moments.back().second;
  return Fail({"reading ", top.native(),
               ": it is no recorded host: it has no sysfs/, ethtool-S/ "
               "or any other part of one"});
}

}  // namespace

Result<RecordedHost> OpenRecordedHost(const std::string& path) {
  // "DIR/" and "DIR" are one folder, and read better as one.
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (error) return Fail(error.value(), {"reading ", folder});
  if (!fs::is_directory(status)) return Fail(ENOTDIR, {"reading ", folder});
  const Result<fs::path> chosen = ChooseFolder(folder);
  if (!chosen) return tl::unexpected(chosen.error());

  const Result<HostFile> top = ReadHostFile(folder);
  if (!top) return tl::unexpected(top.error());
  // A moment's errors are its own; the name is the host's.
  const Result<HostFile> own = ReadHostFile(*chosen);
  if (!own) return tl::unexpected(own.error());
  return RecordedHost{.name = top->name.empty() ? OwnName(folder) : top->name,
                      .folder = *chosen,
                      .errors = UnderSysfs(own->errors),
                      .parts = PartsOf(*chosen)};
}

}  // namespace rdmapulse::cli
