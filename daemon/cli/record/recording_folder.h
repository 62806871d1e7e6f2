// The folder that a recording is written into.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/cli/record/anonymiser.h"

namespace rdmapulse::cli {

// While it is written it holds a note that says so, which also explains what is left of one that
// was cut off.
inline constexpr const char* kUnfinishedNote = "UNFINISHED.txt";

class RecordingFolder {
 public:
  // Makes the folder. Errors: it cannot be made or written, or holds something already. With
  // `anonymiser`, which must outlive it, everything passes through that.
  static Result<RecordingFolder> Make(const std::string& path, Anonymiser* anonymiser);

  // Relative paths; folders on the way are made. Errors: the disk is full, and the like.
  Result<void> Write(const std::string& path, std::string_view text);
  // All of `text` or, when it fails, nothing of it.
  Result<void> Append(const std::string& path, std::string_view text);
  Result<void> Link(const std::string& path, const std::string& target);
  // All is there: takes the note away.
  Result<void> Finish();

  const std::string& path() const { return path_; }
  // nullptr: everything is written as it is.
  Anonymiser* anonymiser() const { return anonymiser_; }
  // As it is in the recording.
  std::string Shown(std::string_view text) const;

 private:
  RecordingFolder(std::string path, Anonymiser* anonymiser)
      : path_(std::move(path)), anonymiser_(anonymiser) {}

  Result<std::string> Prepare(const std::string& path);
  Result<void> WriteTo(const std::string& path, std::string_view text, int flags);

  std::string path_;
  Anonymiser* anonymiser_;
};

}  // namespace rdmapulse::cli
