#include "daemon/discovery/file_source.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "config/load.h"

namespace rdmapulse::discovery {
namespace {

constexpr std::size_t kFilesMax = 256;
constexpr std::string_view kWildcards = "*?[";

struct GlobFree {
  void operator()(glob_t* found) const { globfree(found); }
};

}  // namespace

Result<std::vector<std::string>> FileSource::Paths() const {
  // Without a wildcard a missing file is a failure and not an empty answer.
  if (pattern_.find_first_of(kWildcards) == std::string::npos) {
    return std::vector<std::string>{pattern_};
  }
  glob_t found{};
  const std::unique_ptr<glob_t, GlobFree> owner(&found);
  const int code = glob(pattern_.c_str(), GLOB_NOESCAPE, nullptr, &found);
  if (code == GLOB_NOMATCH) return std::vector<std::string>{};
  if (code != 0) {
    return Fail(code == GLOB_NOSPACE ? ENOMEM : EIO, {"looking for files that match ", pattern_});
  }
  if (found.gl_pathc > kFilesMax) {
    return Fail({std::to_string(found.gl_pathc), " files match"},
                "let the pattern match at most 256");
  }
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  return paths;
}

// True: its list is another.
bool FileSource::Refresh(const std::string& path, File& file, bool reread) {
  struct stat status {};
  Stamp stamp;
  if (stat(path.c_str(), &status) == 0) {
    stamp = {status.st_dev, status.st_ino, status.st_size,
             status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
  }
  // What failed is tried again: its stamp may stay although its mode does not.
  if (file.read && file.failure.empty() && file.stamp == stamp && !reread) return false;
  file.stamp = stamp;
  file.read = true;
  const Result<std::string> text = config::ReadFile(path, "the target list", kListBytesMax);
  if (!text) {
    file.failure = text.error().Text();
    return false;
  }
  Result<TargetList> list =
      ParseTargets(*text, config::ListFormatOf(path).value_or(config::ListFormat::kYaml));
  if (!list) {
    file.failure = "the target list " + path + " is not used: " + list.error().Text();
    return false;
  }
  file.failure.clear();
  const bool changed = *list != file.list;
  file.list = *std::move(list);
  return changed;
}

Fetched FileSource::Look(bool reread) {
  Fetched fetched;
  const Result<std::vector<std::string>> paths = Paths();
  if (!paths) {
    fetched.failure = paths.error().Text();
    return fetched;
  }
  if (paths->empty()) {
    // Its folder is gone or is being swapped: like one file that is missing.
    fetched.failure = "no file matches " + pattern_;
    return fetched;
  }
  const std::set<std::string> present(paths->begin(), paths->end());
  bool changed = std::erase_if(files_, [&present](const auto& entry) {
                   return !present.contains(entry.first);
                 }) > 0;
  for (const std::string& path : *paths) {
    File& file = files_[path];
    changed = Refresh(path, file, reread) || changed;
    if (fetched.failure.empty()) fetched.failure = file.failure;
  }
  if (changed) fetched.list = Union();
  return fetched;
}

TargetList FileSource::Union() const {
  TargetList all;
  std::set<std::string> names;
  std::set<std::string> addresses;
  for (const auto& [path, file] : files_) {
    for (const config::Peer& peer : file.list.peers) {
      const bool is_new = !names.contains(peer.name) && !addresses.contains(peer.address);
      if (is_new && all.peers.size() < kPeersMax) {
        names.insert(peer.name);
        addresses.insert(peer.address);
        all.peers.push_back(peer);
        continue;
      }
      if (++all.problem_count > kProblemsMax) continue;
      all.problems.push_back(is_new ? path + ": " + peer.name + " is past the " +
                                          std::to_string(kPeersMax) + " peers of all files"
                                    : path + ": " + peer.name + " (" + peer.address +
                                          ") is in an earlier file too, which counts");
    }
    all.problem_count += file.list.problem_count;
    for (const std::string& problem : file.list.problems) {
      if (all.problems.size() < kProblemsMax)
        all.problems.emplace_back(path).append(": ").append(problem);
    }
  }
  return all;
}

}  // namespace rdmapulse::discovery
