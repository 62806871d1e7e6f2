#include "config/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "config/document.h"
#include "config/keys.h"
#include "config/report.h"
#include "config/validate.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::config {

bool LoadResult::Usable() const {
  return std::all_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.warning; });
}

LoadResult Load(std::string_view yaml) {
  LoadResult result;
  const auto document = ParseDocument(yaml);
  if (!document) {
    result.problems.push_back(document.error());
    return result;
  }
  Report report;
  const std::string whole_file;
  if (document->Root() != nullptr) {
    ReadSection(Value{*document->Root(), whole_file, report}, result.config);
  }
  Validate(result.config, report);
  result.problems = report.Sorted();
  return result;
}

Result<std::string> ReadFile(const std::string& path) {
  return ReadFile(path, "the configuration", kDocumentBytesMax);
}

Result<std::string> ReadFile(const std::string& path, std::string_view what,
                             std::size_t bytes_max) {
  // Without O_NONBLOCK, opening a FIFO would wait for a writer.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return Fail(errno, {"opening ", what, " ", path});
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return Fail(errno, {"looking at ", what, " ", path});
  if (!S_ISREG(status.st_mode)) {
    return Fail({what, " ", path, " is not a regular file"}, "name a file");
  }
  std::string text(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(errno, {"reading ", what, " ", path});
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) {
    return Fail({what, " ", path, " has more than ", std::to_string(bytes_max >> 20), " MiB"},
                "check that it is the right file");
  }
  text.resize(size);
  return text;
}

std::string Format(const Problem& problem, std::string_view file) {
  std::string text(file);
  if (problem.line > 0) {
    text += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
  }
  text += ": ";
  if (problem.warning) text += "warning: ";
  if (!problem.key.empty()) text += problem.key + ": ";
  return text + problem.message;
}

}  // namespace rdmapulse::config
