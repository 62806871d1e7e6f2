// host.yaml comes from whoever sent the recording.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/cli/recorded_host.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(static_cast<const char*>(static_cast<const void*>(data)), size);
  const auto file = rdmapulse::cli::ParseHostFile(text, "host.yaml");
  if (!file) {
    if (file.error().Text().empty()) std::abort();
    return 0;
  }
  if (file->interval && *file->interval <= rdmapulse::Duration::zero()) std::abort();
  for (const auto& [path, code] : file->errors.codes) {
    if (code <= 0) std::abort();
  }
  return 0;
}
