#include <yaml-cpp/yaml.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "daemon/cli/recorded_host.h"
#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

// A host has some thousand counter files; a list longer than this was not recorded.
constexpr std::size_t kErrorsMax = 100000;

// The errno of "EINVAL"; nullopt: there is none of this name.
std::optional<int> ErrnoOf(const std::string& name) {
  constexpr int kLast = 133;  // EHWPOISON, the last of Linux
  for (int code = 1; code <= kLast; ++code) {
    const char* const known = strerrorname_np(code);
    if (known != nullptr && name == known) return code;
  }
  return std::nullopt;
}

Result<std::map<std::string, int>> ReadErrors(const YAML::Node& node, const std::string& path) {
  std::map<std::string, int> errors;
  if (!node || node.IsNull()) return errors;
  if (!node.IsMap()) return Fail({"reading ", path, ": `errors` is not a map of paths to errors"});
  if (node.size() > kErrorsMax) return Fail({"reading ", path, ": too many `errors`"});
  for (const auto& entry : node) {
    const auto file = Printable(entry.first.as<std::string>());
    const auto name = Printable(entry.second.as<std::string>());
    const std::optional<int> code = ErrnoOf(name);
    if (!code) {
      return Fail({"reading ", path, ": the error of ", file, " is \"", name, "\""},
                  "write an errno's name, like EINVAL");
    }
    errors[file] = *code;
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
    Result<std::map<std::string, int>> errors = ReadErrors(document["errors"], path);
    if (!errors) return tl::unexpected(errors.error());
    file.errors = std::move(*errors);
    return file;
  } catch (const YAML::Exception& error) {
    return Fail({"reading ", path, ": ", Printable(error.what())});
  }
}

}  // namespace rdmapulse::cli
