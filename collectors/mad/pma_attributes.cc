#include "collectors/mad/pma_attributes.h"

#include <infiniband/mad.h>

#include <string>

namespace rdmapulse::collectors::mad {
namespace {

struct Field {
  MAD_FIELDS field;
  std::string_view name;
};

constexpr std::array kErrors = {
    Field{IB_PC_ERR_SYM_F, "symbol_error"},
    Field{IB_PC_LINK_RECOVERS_F, "link_error_recovery"},
    Field{IB_PC_LINK_DOWNED_F, "link_downed"},
    Field{IB_PC_ERR_RCV_F, "port_rcv_errors"},
    Field{IB_PC_ERR_PHYSRCV_F, "port_rcv_remote_physical_errors"},
    Field{IB_PC_ERR_SWITCH_REL_F, "port_rcv_switch_relay_errors"},
    Field{IB_PC_XMT_DISCARDS_F, "port_xmit_discards"},
    Field{IB_PC_ERR_XMTCONSTR_F, "port_xmit_constraint_errors"},
    Field{IB_PC_ERR_RCVCONSTR_F, "port_rcv_constraint_errors"},
    Field{IB_PC_ERR_LOCALINTEG_F, "local_link_integrity_errors"},
    Field{IB_PC_ERR_EXCESS_OVR_F, "excessive_buffer_overrun_errors"},
    Field{IB_PC_VL15_DROPPED_F, "VL15_dropped"},
};
constexpr std::array kNarrowTraffic = {
    Field{IB_PC_XMT_BYTES_F, "port_xmit_data"},
    Field{IB_PC_RCV_BYTES_F, "port_rcv_data"},
    Field{IB_PC_XMT_PKTS_F, "port_xmit_packets"},
    Field{IB_PC_RCV_PKTS_F, "port_rcv_packets"},
};
constexpr std::array kWait = {Field{IB_PC_XMT_WAIT_F, "port_xmit_wait"}};
constexpr std::array kExtended = {
    Field{IB_PC_EXT_XMT_BYTES_F, "port_xmit_data"},
    Field{IB_PC_EXT_RCV_BYTES_F, "port_rcv_data"},
    Field{IB_PC_EXT_XMT_PKTS_F, "port_xmit_packets"},
    Field{IB_PC_EXT_RCV_PKTS_F, "port_rcv_packets"},
    Field{IB_PC_EXT_XMT_UPKTS_F, "unicast_xmit_packets"},
    Field{IB_PC_EXT_RCV_UPKTS_F, "unicast_rcv_packets"},
    Field{IB_PC_EXT_XMT_MPKTS_F, "multicast_xmit_packets"},
    Field{IB_PC_EXT_RCV_MPKTS_F, "multicast_rcv_packets"},
};

// Bits of ClassPortInfo's CapabilityMask; a vendor's mask has them as the kernel asks for them.
constexpr std::uint32_t kExtendedWidth = 1U << 9;         // PortCountersExtended, all of it
constexpr std::uint32_t kExtendedWidthNoIetf = 1U << 10;  // without unicast and multicast
constexpr std::uint32_t kXmitWait = 1U << 12;

std::uint64_t Get(const Data& data, MAD_FIELDS field) {
  Data copy = data;  // libibmad takes what it only reads as writable
  return mad_get_field64(copy.data(), 0, field);
}

std::uint32_t Get32(const Data& data, MAD_FIELDS field) {
  Data copy = data;
  return mad_get_field(copy.data(), 0, field);
}

template <std::size_t kCount>
void Append(const Data& data, const std::array<Field, kCount>& fields, bool wide,
            std::string_view prefix, std::vector<Value>& values) {
  for (const Field& field : fields) {
    const std::uint64_t value = wide ? Get(data, field.field) : Get32(data, field.field);
    values.push_back({std::string(prefix).append(field.name), value});
  }
}

}  // namespace

Abilities ParseClassPortInfo(const Data& data) {
  const std::uint32_t mask = Get32(data, IB_CPI_CAPMASK_F);
  return {.extended = (mask & (kExtendedWidth | kExtendedWidthNoIetf)) != 0,
          .xmit_wait = (mask & kXmitWait) != 0};
}

std::vector<Value> ParsePortCounters(const Data& data, const Abilities& abilities,
                                     std::string_view prefix) {
  std::vector<Value> values;
  Append(data, kErrors, false, prefix, values);
  if (!abilities.extended) Append(data, kNarrowTraffic, false, prefix, values);
  if (abilities.xmit_wait) Append(data, kWait, false, prefix, values);
  return values;
}

std::vector<Value> ParsePortCountersExtended(const Data& data, std::string_view prefix) {
  std::vector<Value> values;
  Append(data, kExtended, true, prefix, values);
  return values;
}

Neighbour ParseNodeInfo(const Data& data) {
  constexpr std::uint32_t kSwitch = 2;
  return {.is_switch = Get32(data, IB_NODE_TYPE_F) == kSwitch,
          .port = static_cast<std::uint8_t>(Get32(data, IB_NODE_LOCAL_PORT_F))};
}

}  // namespace rdmapulse::collectors::mad
