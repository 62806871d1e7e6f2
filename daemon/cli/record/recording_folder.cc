#include "daemon/cli/record/recording_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNote =
    "This recording of rdmapulse is being written, or was cut off while it was: what is here is as "
    "it was read, but the last moment, the last rows and host.yaml may be missing.\n";

}  // namespace

Result<RecordingFolder> RecordingFolder::Make(const std::string& path, Anonymiser* anonymiser) {
  std::error_code error;
  const bool made = fs::create_directories(path, error);
  if (error) return Fail(error.value(), {"making ", path}, "name a folder that can be made");
  const bool empty = fs::is_empty(path, error);
  if (error) return Fail(error.value(), {"reading ", path});
  if (!empty) return Fail({"recording into ", path, ": it is not empty"}, "name a new folder");
  RecordingFolder folder(path, anonymiser);
  Result<void> noted = folder.Write(kUnfinishedNote, kNote);
  if (noted) return folder;
  fs::remove(folder.path_ + "/" + kUnfinishedNote, error);
  if (made) fs::remove(path, error);
  noted.error().advice = "nothing was recorded";
  return tl::unexpected(std::move(noted.error()));
}

std::string RecordingFolder::Shown(std::string_view text) const {
  return anonymiser_ == nullptr ? std::string(text) : anonymiser_->Text(text);
}

Result<std::string> RecordingFolder::Prepare(const std::string& path) {
  const fs::path whole = fs::path(path_) / Shown(path);
  std::error_code error;
  fs::create_directories(whole.parent_path(), error);
  if (error) return Fail(error.value(), {"making ", whole.parent_path().native()});
  return whole.native();
}

Result<void> RecordingFolder::Write(const std::string& path, std::string_view text) {
  return WriteTo(path, text, O_TRUNC);
}

Result<void> RecordingFolder::Append(const std::string& path, std::string_view text) {
  return WriteTo(path, text, O_APPEND);
}

Result<void> RecordingFolder::WriteTo(const std::string& path, std::string_view text, int flags) {
  const Result<std::string> whole = Prepare(path);
  if (!whole) return tl::unexpected(whole.error());
  const UniqueFd file(
      open(whole->c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0644));
  struct stat before = {};
  if (!file || fstat(file.get(), &before) != 0) return Fail(errno, {"writing ", *whole});
  const std::string shown = Shown(text);
  std::size_t written = 0;
  while (written < shown.size()) {
    const ssize_t count = write(file.get(), shown.data() + written, shown.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      // Half a row would make the rest unreadable. Should this fail too, the note explains it.
      [[maybe_unused]] const int cut = ftruncate(file.get(), before.st_size);
      return Fail(error, {"writing ", *whole});
    }
    written += static_cast<std::size_t>(count);
  }
  return {};
}

Result<void> RecordingFolder::Link(const std::string& path, const std::string& target) {
  const Result<std::string> whole = Prepare(path);
  if (!whole) return tl::unexpected(whole.error());
  std::error_code error;
  fs::create_symlink(Shown(target), *whole, error);
  // Two names of the class may lead to one folder, whose links are then met twice.
  if (error && error != std::errc::file_exists) return Fail(error.value(), {"writing ", *whole});
  return {};
}

Result<void> RecordingFolder::Finish() {
  const std::string note = path_ + "/" + kUnfinishedNote;
  if (unlink(note.c_str()) != 0) return Fail(errno, {"removing ", note});
  return {};
}

}  // namespace rdmapulse::cli
