#include "daemon/cli/recorded_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

bool HasParts(const fs::path& folder) {
  return std::any_of(kParts.begin(), kParts.end(),
                     [&folder](std::string_view part) { return IsFolder(folder / part); });
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
    const bool has_parts = HasParts(it->path());
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
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return HostFile{};
  if (!error && !fs::is_regular_file(status))
    return Fail({"reading ", path, ": it is no regular file"});
  const auto size = error ? 0 : fs::file_size(path, error);
  if (error) return Fail(error.value(), {"reading ", path});
  if (size > kHostFileBytesMax) return Fail({"reading ", path, ": it is larger than 1 MiB"});
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Fail({"reading ", path, ": it cannot be read"});
  return ParseHostFile(text, path);
}

std::string OwnName(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  return error ? folder.string() : whole.filename().string();
}

// Those that hold the host's moments, in order.
Result<std::vector<fs::path>> FindMoments(const fs::path& top) {
  if (HasParts(top)) return std::vector{top};
  SubFolders found = Look(top);
  if (!found.others.empty()) {
    const std::size_t count = found.others.size();
    if (count > kNamedMax) found.others.resize(kNamedMax);
    return Fail(
        {"reading ", top.native(), ": it holds several hosts: ",
         fmt::format("{}{}", fmt::join(found.others, ", "), count > kNamedMax ? ", …" : "")},
        "name one of them");
  }
  std::vector<fs::path> moments;
  for (const auto& [number, name] : found.moments) moments.push_back(top / name);
  if (!moments.empty()) return moments;
  return Fail({"reading ", top.native(),
               ": it is no recorded host: it has no sysfs/, ethtool-S/ "
               "or any other part of one"});
}

// What the host's own file says of one of its moments: by a path that begins with its name, or by
// one that begins with no moment's name, which holds for each.
std::map<std::string, int> ErrorsOf(const fs::path& moment, const std::vector<fs::path>& moments,
                                    const std::map<std::string, int>& errors) {
  std::map<std::string, int> of_moment;
  for (const auto& [path, code] : errors) {
    const std::string first = path.substr(0, path.find('/'));
    if (first == moment.filename() && first != path) {
      of_moment[path.substr(first.size() + 1)] = code;
    } else if (std::none_of(moments.begin(), moments.end(), [&first](const fs::path& other) {
                 return first == other.filename();
               })) {
      of_moment.try_emplace(path, code);
    }
  }
  return of_moment;
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
  if (access(folder.c_str(), R_OK | X_OK) != 0) return Fail(errno, {"reading ", folder});
  const Result<std::vector<fs::path>> moments = FindMoments(folder);
  if (!moments) return tl::unexpected(moments.error());

  Result<HostFile> top = ReadHostFile(folder);
  if (!top) return tl::unexpected(top.error());
  RecordedHost host{.name = top->name.empty() ? OwnName(folder) : std::move(top->name),
                    .kernel = std::move(top->kernel),
                    .interval = top->interval};
  for (const fs::path& moment : *moments) {
    if (moment == folder) {
      host.moments.push_back({moment, top->errors});
      continue;
    }
    Result<HostFile> own = ReadHostFile(moment);
    if (!own) return tl::unexpected(own.error());
    // insert() keeps what is there: what the moment says of itself.
    const auto of_host = ErrorsOf(moment, *moments, top->errors.codes);
    own->errors.codes.insert(of_host.begin(), of_host.end());
    host.moments.push_back({moment, std::move(own->errors)});
  }
  // Said once, where every reader comes by: of several moments some read the last alone.
  if (moments->back() != folder) {
    std::vector<std::string>& complaints = host.moments.back().errors.complaints;
    complaints.insert(complaints.begin(), top->errors.complaints.begin(),
                      top->errors.complaints.end());
  }
  return host;
}

}  // namespace rdmapulse::cli
