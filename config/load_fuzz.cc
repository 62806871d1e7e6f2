// Any bytes as a configuration file: no crash, no endless walk, and the promises of load.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/load.h"
#include "config/reload.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void TryLoad(std::string_view text) {
  const LoadResult loaded = Load(text);
  int line = 0;
  for (const Problem& problem : loaded.problems) {
    Require(problem.line >= line);
    line = problem.line;
    Require(problem.line == 0 || problem.column > 0);
    Require(!problem.message.empty());
    const std::string shown = Format(problem, "f");
    Require(IsUtf8(shown) && shown.find('\n') == shown.npos);
  }
  Require(loaded.config == Load(text).config);
  if (!loaded.Usable()) return;
  Require(!Diff(loaded.config, loaded.config).Any());
  for (const Class* each : {&loaded.config.classes.lossless, &loaded.config.classes.control}) {
    Require(each->dscp <= 63 && each->timeout >= 1 && each->timeout <= 31 && each->retry_cnt <= 7);
    Require(each->deadline.count() >= 1 && each->deadline <= each->interval);
    Require(!each->ops.empty());
  }
}

}  // namespace
}  // namespace rdmapulse::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* const bytes = data;
  rdmapulse::config::TryLoad({static_cast<const char*>(bytes), size});
  return 0;
}
