#!/bin/bash
# The files of the catalogue as C++: every FILE becomes a name and its text.
set -euo pipefail

echo '#include "collectors/builtin_catalogue.h"'
echo '#include <array>'
echo 'namespace rdmapulse::collectors {'
echo 'namespace {'
echo "constexpr std::array<BuiltInFile, $#> kFiles = {{"
for file in "$@"; do
  printf '{"%s", R"catalogue(' "$(basename "$file")"
  cat "$file"
  echo ')catalogue"},'
done
echo '}};'
echo '}  // namespace'
echo 'std::span<const BuiltInFile> BuiltInFiles() { return kFiles; }'
echo '}  // namespace rdmapulse::collectors'
