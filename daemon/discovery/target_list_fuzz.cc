// Lists as files and servers may send them, and DNS answers: whatever the bytes, what comes out is
// within its limits, and an address that was taken is taken again as it stands.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "config/address.h"
#include "daemon/discovery/dns_lookup.h"
#include "daemon/discovery/target_list.h"

namespace {

using rdmapulse::config::ListFormat;

void Check(const rdmapulse::Result<rdmapulse::discovery::TargetList>& list) {
  if (!list) return;
  if (list->peers.size() > rdmapulse::discovery::kPeersMax) std::abort();
  if (list->problems.size() > rdmapulse::discovery::kProblemsMax) std::abort();
  for (const auto& peer : list->peers) {
    const auto address = rdmapulse::config::ParseAddress(peer.address);
    if (!address || address->Text() != peer.address || peer.name.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(rdmapulse::discovery::ParseTargets(text, ListFormat::kJson));
  Check(rdmapulse::discovery::ParseTargets(text, ListFormat::kYaml));
  for (const int type : {1, 28, 33}) {
    Check(rdmapulse::discovery::ParseDnsAnswer(std::span(data, size), type, 9937));
  }
  return 0;
}
