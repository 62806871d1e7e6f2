#include "daemon/cli/record/host_yaml.h"

#include <fmt/format.h>

#include <string_view>

#include "daemon/base/errno_name.h"

namespace rdmapulse::cli {
namespace {

// In double quotes, as YAML wants paths that hold colons and commas.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c < ' ' ? '?' : c;
  }
  return quoted + '"';
}

}  // namespace

std::string HostYaml(const HostFacts& facts) {
  std::string yaml;
  if (!facts.name.empty()) yaml += "name: " + Quoted(facts.name) + "\n";
  if (!facts.kernel.empty()) yaml += "kernel: " + Quoted(facts.kernel) + "\n";
  if (facts.interval_seconds > 0) {
    yaml += fmt::format("interval_s: {:.6f}\n", facts.interval_seconds);
  }
  if (!facts.errors.empty()) yaml += "errors:\n";
  for (const auto& [path, error] : facts.errors) {
    const std::string_view name = ErrnoName(error);
    yaml += fmt::format("  {}: {}\n", Quoted(path), name.empty() ? "EIO" : name);
  }
  return yaml;
}

}  // namespace rdmapulse::cli
