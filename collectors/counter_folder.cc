#include "collectors/counter_folder.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/value_kind.h"

namespace rdmapulse::collectors {
namespace {

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

CounterFolder::CounterFolder(const KernelFiles& files, std::string path, const FolderRules& rules)
    : files_(files), path_(std::move(path)), rules_(rules), buffer_(kMaxFileBytes + 1) {}

SourceRead CounterFolder::ReadInto(TimePoint now, Reading& reading) {
  SourceRead read;
  if (reads_left_ == 0) {
    const auto exists = ListFiles();
    if (!exists) {
      const std::string_view whole = rules_.prefix.substr(0, rules_.prefix.rfind('/'));
      reading.problems.push_back(ProblemOf(std::string(whole), exists.error().code.value()));
      return {.exists = true, .success = false};
    }
    if (!*exists) return read;
  }
  --reads_left_;
  read.exists = true;
  reading.values.reserve(listed_.size());
  for (File& file : listed_) ReadValue(now, file, reading, read);
  return read;
}

Result<bool> CounterFolder::ListFiles() {
  const std::vector<File> before = std::exchange(listed_, {});
  const auto names = files_.List(path_);
  if (!names) return tl::unexpected(names.error());
  if (!*names) return false;
  for (const std::string& name : **names) {
    if (Contains(rules_.skip, name) || (!rules_.only.empty() && !Contains(rules_.only, name)))
      continue;
    File file{name, std::string(rules_.prefix) + name, UniqueFd()};
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&name](const File& f) { return f.name == name; });
    if (known != before.end()) file.refusal = known->refusal;
    if (listed_.size() < kMaxKeptOpen) {
      // A failure shows again at the read, where it is reported.
      if (auto fd = files_.Open(path_ + "/" + name); fd && *fd) file.fd = std::move(**fd);
    }
    listed_.push_back(std::move(file));
  }
  const auto first = std::find_if(listed_.begin(), listed_.end(),
                                  [this](const File& file) { return file.name == rules_.first; });
  if (first != listed_.end()) std::rotate(listed_.begin(), first, first + 1);
  reads_left_ = kReadsPerListing;
  return true;
}

tl::expected<std::string_view, int> CounterFolder::ReadFile(const File& file) {
  if (file.fd) return ReadFromStart(file.fd.get(), buffer_);
  auto fd = files_.Open(path_ + "/" + file.name);
  if (!fd) return tl::unexpected(fd.error().code.value());
  if (!*fd) return tl::unexpected(ENOENT);
  return ReadFromStart((*fd)->get(), buffer_);
}

void CounterFolder::ReadValue(TimePoint now, File& file, Reading& reading, SourceRead& read) {
  if (const auto refusal = file.refusal.Holds(now)) {
    reading.problems.push_back(ProblemOf(file.value_name, *refusal));
    return;
  }
  const auto text = ReadFile(file);
  if (!text) {
    const int error = text.error();
    reading.problems.push_back(ProblemOf(file.value_name, error));
    if (IsRefusal(error)) return file.refusal.Refused(error, now);
    read.success = false;
    // Gone, perhaps to come back under the same name: a descriptor never would. reads_left_ has
    // been counted down already, so the next read lists the folder.
    if (error == ENODEV || error == ENOENT) reads_left_ = 0;
    return;
  }
  file.refusal = {};
  const auto value = ParseCounter(*text);
  if (!value) {
    reading.problems.push_back({file.value_name, value.error().doing});
    read.success = false;
  } else if (*value) {
    reading.values.push_back(
        {file.value_name, **value, KindOf(reading.source, file.value_name.Text())});
  }
}

}  // namespace rdmapulse::collectors
