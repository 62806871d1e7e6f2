// Whatever another host's switch answers, each value keeps to its field's width, and none comes
// that the agent cannot count.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "collectors/mad/pma_attributes.h"

namespace {

using rdmapulse::collectors::Value;

void Expect(bool holds) {
  if (!holds) std::abort();
}

// Of the narrow fields; data, packets and the wait have 32 bits.
std::uint64_t LargestOf(const Value& value) {
  const std::string_view name = value.name.Text();
  if (name == "local_link_integrity_errors" || name == "excessive_buffer_overrun_errors") return 15;
  if (name == "link_error_recovery" || name == "link_downed" ||
      name.ends_with("_constraint_errors"))
    return UINT8_MAX;
  if (name == "port_xmit_data" || name == "port_rcv_data" || name.ends_with("_packets") ||
      name == "port_xmit_wait")
    return UINT32_MAX;
  return UINT16_MAX;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace rdmapulse::collectors::mad;
  Data data{};
  std::copy_n(bytes, std::min(size, data.size()), data.begin());
  const Abilities told = ParseClassPortInfo(data);
  constexpr std::size_t kErrors = 12;
  constexpr std::size_t kTraffic = 4;
  for (const bool extended : {told.extended, !told.extended}) {
    const Abilities abilities{.extended = extended, .xmit_wait = told.xmit_wait};
    const auto values = ParsePortCounters(data, abilities, "");
    Expect(values.size() == kErrors + (extended ? 0 : kTraffic) + (abilities.xmit_wait ? 1 : 0));
    for (const Value& value : values) Expect(value.value <= LargestOf(value));
  }
  for (const Value& value : ParsePortCountersExtended(data, "switch/"))
    Expect(value.name.Text().starts_with("switch/"));
  const Neighbour neighbour = ParseNodeInfo(data);
  // NodeType is the third byte of NodeInfo (IBA 14.2.5.3).
  Expect(neighbour.is_switch == (data[2] == 2));
  return 0;
}
