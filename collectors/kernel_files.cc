#include "collectors/kernel_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <utility>

namespace rdmapulse::collectors {
namespace {

constexpr std::size_t kMaxQuoted = 40;
// A path in sysfs crosses one link of the class and perhaps one of the device; more is a circle.
constexpr int kMaxTextLinks = 8;
constexpr int kMaxAttempts = 100;

bool IsAbsent(int error) { return error == ENOENT || error == ENOTDIR; }

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { closedir(folder); }
};

// "a/b/c" → "a/b" and "c".
std::pair<std::string, std::string> Split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// The path of what is open, without links; empty: /proc is not there.
std::string PlaceOf(const UniqueFd& fd) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd.get());
  std::array<char, PATH_MAX> place{};
  const ssize_t length = readlink(self.c_str(), place.data(), place.size());
  return length < 0 ? std::string() : std::string(place.data(), static_cast<std::size_t>(length));
}

// Where a file points that stands for a link; empty: it is an ordinary file.
std::string LinkAsText(int folder, const std::string& name) {
  const UniqueFd fd(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, kMaxFileBytes + 1> buffer{};
  if (!fd) return {};
  const auto text = ReadFromStart(fd.get(), buffer);
  if (!text || !text->starts_with("../")) return {};
  const std::string_view target = Trim(*text);
  return target.find('\n') == std::string_view::npos ? std::string(target) : std::string{};
}

}  // namespace

KernelFiles::KernelFiles(std::string root, Links links, const std::map<std::string, int>& errors)
    : root_(std::move(root)),
      links_(links),
      root_fd_(open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (!root_fd_) {
    root_error_ = errno;
    return;
  }
  if (!errors.empty()) root_place_ = PlaceOf(root_fd_);
  for (const auto& [path, error] : errors) errors_.try_emplace(Resolve(path), path, error);
}

tl::expected<UniqueFd, int> KernelFiles::OpenOnce(const std::string& path, int flags) const {
  flags |= O_CLOEXEC;
  int fd = -1;
  if (links_ == Links::kFollow) {
    fd = openat(root_fd_.get(), path.c_str(), flags);
  } else {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.resolve = RESOLVE_IN_ROOT;
    // openat2(2): a rename anywhere meanwhile makes the kernel unsure of a "..", and it says so.
    int attempts = 0;
    do {
      fd = static_cast<int>(syscall(SYS_openat2, root_fd_.get(), path.c_str(), &how, sizeof(how)));
    } while (fd < 0 && errno == EAGAIN && ++attempts < kMaxAttempts);
  }
  if (fd < 0) return tl::unexpected(errno);
  return UniqueFd(fd);
}

// Relative to the root; of what is not there, the folder's place and the rest as it is spelt.
std::string KernelFiles::Resolve(const std::string& path) const {
  if (const auto fd = OpenThroughLinks(path, O_PATH)) {
    const std::string place = PlaceOf(*fd);
    if (place.starts_with(root_place_ + "/")) return place.substr(root_place_.size() + 1);
  }
  const auto [folder, name] = Split(path);
  return folder == "." ? name : Resolve(folder) + "/" + name;
}

std::optional<int> KernelFiles::PlannedError(const std::string& path) const {
  if (errors_.empty()) return std::nullopt;
  const auto planned = errors_.find(Resolve(path));
  if (planned == errors_.end()) return std::nullopt;
  planned->second.met = true;
  return planned->second.error;
}

std::vector<std::string> KernelFiles::UnmetErrors() const {
  std::vector<std::string> unmet;
  for (const auto& [place, planned] : errors_) {
    if (!planned.met && !OpenThroughLinks(planned.path, O_PATH)) unmet.push_back(planned.path);
  }
  return unmet;
}

bool KernelFiles::HasFolder(const std::string& path) const {
  const auto fd = OpenRaw(path, O_PATH | O_DIRECTORY);
  return fd || !IsAbsent(fd.error());
}

tl::expected<UniqueFd, int> KernelFiles::OpenRaw(const std::string& path, int flags) const {
  if (root_error_ != 0) return tl::unexpected(root_error_);
  if (const auto planned = PlannedError(path)) return tl::unexpected(*planned);
  return OpenThroughLinks(path, flags);
}

tl::expected<UniqueFd, int> KernelFiles::OpenThroughLinks(const std::string& path,
                                                          int flags) const {
  auto fd = OpenOnce(path, flags);
  if (links_ == Links::kFollow) return fd;
  std::string followed = path;
  for (int i = 0; i < kMaxTextLinks && !fd && fd.error() == ENOTDIR; ++i) {
    followed = FollowOneTextLink(followed);
    if (followed.empty()) break;
    fd = OpenOnce(followed, flags);
  }
  return fd;
}

// The path beyond the first of its components that is a file; empty: that file is no link.
std::string KernelFiles::FollowOneTextLink(const std::string& path) const {
  std::size_t end = 0;
  do {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string prefix = path.substr(0, end);
    if (OpenOnce(prefix, O_PATH | O_DIRECTORY)) continue;
    const auto [folder, name] = Split(prefix);
    const auto fd = OpenOnce(folder, O_PATH | O_DIRECTORY);
    const std::string target = fd ? LinkAsText(fd->get(), name) : std::string{};
    return target.empty() ? std::string{} : folder + "/" + target + path.substr(end);
  } while (end < path.size());
  return {};
}

Result<std::optional<UniqueFd>> KernelFiles::Open(const std::string& path) const {
  // Non-blocking, so that a FIFO in a recorded folder cannot stop us; sysfs does not mind.
  auto fd = OpenRaw(path, O_RDONLY | O_NONBLOCK);
  if (fd) return std::optional<UniqueFd>(std::move(*fd));
  if (IsAbsent(fd.error())) return std::nullopt;
  return Fail(fd.error(), {"opening ", root_, "/", path});
}

Result<std::optional<std::string>> KernelFiles::ReadText(const std::string& path) const {
  auto fd = Open(path);
  if (!fd) return tl::unexpected(std::move(fd.error()));
  if (!*fd) return std::nullopt;
  std::array<char, kMaxFileBytes + 1> buffer{};
  const auto text = ReadFromStart((*fd)->get(), buffer);
  if (!text) return Fail(text.error(), {"reading ", root_, "/", path});
  return std::string(*text);
}

Result<std::optional<std::vector<std::string>>> KernelFiles::List(const std::string& path) const {
  auto fd = OpenRaw(path, O_RDONLY | O_DIRECTORY);
  std::vector<std::string> names;
  if (!fd) {
    if (IsAbsent(fd.error())) {
      AddRefused(path, names);
      return names.empty() ? std::nullopt : std::optional(std::move(names));
    }
    return Fail(fd.error(), {"listing ", root_, "/", path});
  }
  const std::unique_ptr<DIR, CloseFolder> folder(fdopendir(fd->get()));
  if (!folder) return Fail(errno, {"listing ", root_, "/", path});
  fd->Release();  // closed with the folder
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    // Also what people's tools leave behind in a recording; the kernel has no such names.
    if (name.starts_with('.')) continue;
    if (names.size() == kMaxFolderEntries) return Fail(E2BIG, {"listing ", root_, "/", path});
    names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return Fail(errno, {"listing ", root_, "/", path});
  AddRefused(path, names);
  std::sort(names.begin(), names.end());
  return names;
}

// A recorder may have had nothing to write for a file that it could not read.
void KernelFiles::AddRefused(const std::string& folder, std::vector<std::string>& names) const {
  if (errors_.empty()) return;
  const std::string prefix = Resolve(folder) + "/";
  const std::size_t listed = names.size();
  for (auto it = errors_.lower_bound(prefix); it != errors_.end(); ++it) {
    if (!it->first.starts_with(prefix) || names.size() == kMaxFolderEntries) break;
    std::string name = it->first.substr(prefix.size());
    if (name.empty() || name.find('/') != std::string::npos) continue;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(listed);
    if (std::find(names.begin(), end, name) == end) names.push_back(std::move(name));
  }
}

std::optional<std::uint64_t> KernelFiles::FolderNumber(const std::string& path) const {
  const auto fd = OpenRaw(path, O_PATH | O_DIRECTORY);
  struct stat facts {};
  if (!fd || fstat(fd->get(), &facts) != 0) return std::nullopt;
  return facts.st_ino;
}

Result<std::optional<std::string>> KernelFiles::ReadLink(const std::string& path) const {
  // The folder is opened first so that kInsideRoot also holds for the links on the way.
  const auto [folder, name] = Split(path);
  auto fd = OpenRaw(folder, O_PATH | O_DIRECTORY);
  int error = 0;
  if (fd) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = readlinkat(fd->get(), name.c_str(), target.data(), target.size());
    if (length >= 0) return std::string(target.data(), static_cast<std::size_t>(length));
    error = errno;
    if (error == EINVAL && links_ == Links::kInsideRoot) {
      if (std::string text = LinkAsText(fd->get(), name); !text.empty()) return text;
    }
  } else {
    error = fd.error();
  }
  if (IsAbsent(error) || error == EINVAL) return std::nullopt;
  return Fail(error, {"reading link ", root_, "/", path});
}

tl::expected<std::string_view, int> ReadFromStart(int fd, std::span<char> buffer) {
  // sysfs gives an attribute whole in one read, and an ordinary file is short only at its end.
  ssize_t got = 0;
  do {
    got = pread(fd, buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return tl::unexpected(errno);
  const auto length = static_cast<std::size_t>(got);
  if (length == buffer.size()) return tl::unexpected(EFBIG);
  return std::string_view(buffer.data(), length);
}

Result<std::optional<std::uint64_t>> ParseCounter(std::string_view text) {
  const std::string_view number = Trim(text);
  if (number.empty() || number.starts_with("N/A")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size())
    return Fail({"not a number: '", Printable(number), "'"});
  return value;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank{" \t\r\n\0", 5};
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Printable(std::string_view text) {
  std::string printable(text.substr(0, kMaxQuoted));
  for (char& c : printable) {
    if (c < ' ' || c > '~') c = '?';
  }
  if (text.size() > kMaxQuoted) printable += "...";
  return printable;
}

}  // namespace rdmapulse::collectors
