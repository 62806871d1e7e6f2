// Writes tests/captures/golden/ anew: `bazel run //tests/captures:update`. What changes there is
// for a person to look at.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/captures/capture_text.h"
#include "tests/fakes/tree.h"

int main() {
  namespace fs = std::filesystem;
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "run it by: bazel run //tests/captures:update\n";
    return 2;
  }
  const fs::path folder = fs::path(workspace) / "tests/captures";
  for (const auto& entry : fs::directory_iterator(folder / "data")) {
    const auto tree = rdmapulse::fakes::Tree::FromFile(entry.path());
    std::ofstream(folder / "golden" / entry.path().stem().concat(".txt"), std::ios::binary)
        << rdmapulse::captures::CaptureText(tree.Root());
  }
}
