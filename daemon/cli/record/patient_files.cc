#include "daemon/cli/record/patient_files.h"

#include <cerrno>

#include "daemon/cli/record/patience.h"

namespace rdmapulse::cli {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

template <typename T, typename Read>
Result<T> PatientFiles::Ask(const std::string& path, Read read) {
  if (stuck_.contains(FolderOf(path))) return Fail(ETIMEDOUT, {"reading ", path});
  auto answer =
      Patiently(patience_, [files = files_, path, read] { return ((*files).*read)(path); });
  if (answer) return std::move(*answer);
  stuck_.insert(FolderOf(path));
  return Fail(ETIMEDOUT, {"reading ", path});
}

Result<std::optional<std::string>> PatientFiles::ReadText(const std::string& path) {
  return Ask<std::optional<std::string>>(path, &collectors::KernelFiles::ReadText);
}

Result<std::optional<std::vector<std::string>>> PatientFiles::List(const std::string& path) {
  return Ask<std::optional<std::vector<std::string>>>(path, &collectors::KernelFiles::List);
}

Result<std::optional<std::string>> PatientFiles::ReadLink(const std::string& path) {
  return Ask<std::optional<std::string>>(path, &collectors::KernelFiles::ReadLink);
}

}  // namespace rdmapulse::cli
