// The files of collectors/catalogue/, as they were when this program was built.
#pragma once

#include <span>
#include <string_view>

namespace rdmapulse::collectors {

struct BuiltInFile {
  std::string_view name;  // "mlx5.yaml"
  std::string_view text;
};

// signals.yaml is one of them. In order of their names.
std::span<const BuiltInFile> BuiltInFiles();

}  // namespace rdmapulse::collectors
