#include "daemon/metrics/process_stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::metrics {
namespace {

// Counted from the process's state, which is field 3 of proc(5).
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The `index`-th word of `text`; empty when there are fewer.
std::string_view Word(std::string_view text, std::size_t index) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    if (index-- == 0) return text.substr(0, end);
    text.remove_prefix(end);
  }
}

constexpr const char* kFdFolder = "/proc/self/fd";

// Hundreds, one for each counter: listing them all would be a tenth of what a scrape costs.
std::optional<std::uint64_t> CountOpenFds() {
  struct stat folder_stat {};
  // Since Linux 6.2 the folder's size is their number, before that 0.
  if (stat(kFdFolder, &folder_stat) == 0 && folder_stat.st_size > 0) {
    return static_cast<std::uint64_t>(folder_stat.st_size);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFdFolder), &closedir);
  if (folder == nullptr) return std::nullopt;
  std::uint64_t entries = 0;
  while (readdir(folder.get()) != nullptr) ++entries;
  // Without ".", ".." and the descriptor that lists them.
  return entries < 3 ? std::nullopt : std::optional(entries - 3);
}

}  // namespace

ProcessStats ParseProcessStat(std::string_view stat, std::uint64_t ticks_per_second,
                              std::uint64_t page_bytes) {
  ProcessStats stats;
  // The program's name may hold blanks and parentheses; the last one ends it.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return stats;
  const std::string_view fields = stat.substr(name_end + 1);
  const auto user = Number(Word(fields, kUserTicks));
  const auto system = Number(Word(fields, kSystemTicks));
  if (user && system && ticks_per_second > 0) {
    stats.cpu_seconds =
        static_cast<double>(*user + *system) / static_cast<double>(ticks_per_second);
  }
  if (const auto pages = Number(Word(fields, kResidentPages))) {
    stats.resident_bytes = *pages * page_bytes;
  }
  return stats;
}

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  if (const UniqueFd fd(open("/proc/self/stat", O_RDONLY | O_CLOEXEC)); fd) {
    std::array<char, 1024> text{};  // some 350 bytes in practice
    if (const ssize_t size = read(fd.get(), text.data(), text.size()); size > 0) {
      stats = ParseProcessStat({text.data(), static_cast<std::size_t>(size)},
                               static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)),
                               static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
    }
  }
  stats.open_fds = CountOpenFds();
  return stats;
}

}  // namespace rdmapulse::metrics
