#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "daemon/base/errno_name.h"
#include "daemon/cli/recorded_host.h"
#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

using collectors::recorded::RecordedErrors;

// A host has some thousand counter files; a list longer than this was not recorded.
constexpr std::size_t kErrorsMax = 100000;

// "./sysfs//class/" → "sysfs/class".
std::string Plain(const std::string& path) {
  std::string plain = std::filesystem::path(path).lexically_normal();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

Result<RecordedErrors> ReadErrors(const YAML::Node& node, const std::string& path) {
  RecordedErrors errors;
  std::vector<std::string> unknown;
  if (!node || node.IsNull()) return errors;
  if (!node.IsMap()) return Fail({"reading ", path, ": `errors` is not a map of paths to errors"});
  if (node.size() > kErrorsMax) return Fail({"reading ", path, ": too many `errors`"});
  for (const auto& entry : node) {
    const auto file = Printable(entry.first.as<std::string>());
    const auto name = Printable(entry.second.as<std::string>());
    const std::optional<int> code = ErrnoNamed(name);
    if (!code) unknown.push_back(fmt::format("the error of {}, \"{}\",", file, name));
    errors.codes[Plain(file)] = code.value_or(EIO);
  }
  if (!unknown.empty()) {
    const std::string more =
        unknown.size() > 1 ? fmt::format(" ({} more alike)", unknown.size() - 1) : std::string();
    errors.complaints.push_back(
        fmt::format("host.yaml: {} is none of Linux{}: taken as EIO; write a name like EINVAL",
                    unknown.front(), more));
  }
  return errors;
}

std::string ReadText(const YAML::Node& node) {
  return node && !node.IsNull() ? Printable(node.as<std::string>()) : std::string{};
}

// A day is longer than anybody records by hand.
constexpr double kIntervalSecondsMax = 86400;

Result<std::optional<Duration>> ReadInterval(const YAML::Node& node, const std::string& path) {
  if (!node || node.IsNull()) return std::nullopt;
  const auto text = Printable(node.as<std::string>());
  double seconds = 0;
  // NaN is on neither side.
  if (!YAML::convert<double>::decode(node, seconds) ||
      !(seconds > 0 && seconds <= kIntervalSecondsMax))
    return Fail({"reading ", path, ": interval_s is \"", text, "\""},
                "write seconds, more than 0 and at most 86400");
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Result<HostFile> ParseHostFile(const std::string& yaml, const std::string& path) {
  try {
    const YAML::Node document = YAML::Load(yaml);
    if (!document || document.IsNull()) return HostFile{};
    if (!document.IsMap()) return Fail({"reading ", path, ": not a map of keys"});
    HostFile file;
    file.name = ReadText(document["name"]);
    file.kernel = ReadText(document["kernel"]);
    const auto interval = ReadInterval(document["interval_s"], path);
    if (!interval) return tl::unexpected(interval.error());
    file.interval = *interval;
    Result<RecordedErrors> errors = ReadErrors(document["errors"], path);
    if (!errors) return tl::unexpected(errors.error());
    file.errors = std::move(*errors);
    return file;
  } catch (const YAML::Exception& error) {
    return Fail({"reading ", path, ": ", Printable(error.what())});
  }
}

}  // namespace rdmapulse::cli
