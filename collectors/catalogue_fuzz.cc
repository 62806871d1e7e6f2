// Any bytes as an operator's catalogue file: no crash, no endless walk, and the promises of
// catalogue.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collectors/catalogue.h"
#include "collectors/catalogue_file.h"

namespace rdmapulse::collectors {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void RequireKnown(const Catalogue& catalogue, const CatalogueRow& row) {
  Require(!row.sources.empty() && row.scale > 0 && row.bits >= 2 && row.bits <= 64);
  Require(row.frozen.empty() || row.signal == nullptr);
  if (!row.name.IsExact()) return;
  const NameOwner owner{
      .driver = row.drivers.empty() ? std::string_view("any") : row.drivers.front(),
      .source = row.sources.front(),
      .link_layer = row.link.value_or(LinkLayer::kUnknown)};
  Require(catalogue.Find(row.name.Text(), owner).has_value());
}

void TryFile(std::string_view text) {
  const CatalogueFile file = ParseCatalogueFile(text);
  int line = 0;
  for (const config::Problem& problem : file.problems) {
    Require(problem.line >= line && !problem.message.empty() && !problem.warning);
    line = problem.line;
  }
  Require(file.problems.empty() || file.rows.empty());
  Require(file.rows.size() <= kRowsMax);

  Catalogue catalogue;
  Require(catalogue.Add(text) == file.problems);
  Require(catalogue.Rows().size() == file.rows.size());
  // A few of them: each costs a walk over all patterns.
  for (std::size_t i = 0; i < catalogue.Rows().size() && i < 64; ++i)
    RequireKnown(catalogue, catalogue.Rows()[i]);
}

}  // namespace
}  // namespace rdmapulse::collectors

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* const bytes = data;
  rdmapulse::collectors::TryFile({static_cast<const char*>(bytes), size});
  return 0;
}
