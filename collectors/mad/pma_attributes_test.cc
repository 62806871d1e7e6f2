#include "collectors/mad/pma_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out) { *out << v.name << " = " << v.value; }

namespace mad {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// Puts a number into the attribute, most significant byte first, as it goes over the wire.
void Put(Data& data, std::size_t byte, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    data.at(byte + i) = static_cast<std::uint8_t>(value >> (8 * (bytes - 1 - i)));
}

// Offsets are those of the specification's tables.
TEST(PmaAttributesTest, PortCountersByTheSpecificationsLayout) {
  Data data{};
  Put(data, 4, 0x1234, 2);       // SymbolErrorCounter
  Put(data, 6, 0xAB, 1);         // LinkErrorRecoveryCounter
  Put(data, 7, 0xFF, 1);         // LinkDownedCounter
  Put(data, 8, 3, 2);            // PortRcvErrors
  Put(data, 14, 7, 2);           // PortXmitDiscards
  Put(data, 19, 0x52, 1);        // LocalLinkIntegrityErrors, ExcessiveBufferOverrunErrors
  Put(data, 22, 9, 2);           // VL15Dropped
  Put(data, 24, 0x89ABCDEF, 4);  // PortXmitData
  Put(data, 40, 0xFFFFFFFF, 4);  // PortXmitWait
  const auto values = ParsePortCounters(data, {.extended = false, .xmit_wait = true}, "");
  EXPECT_THAT(
      values,
      ElementsAre(Value{"symbol_error", 0x1234}, Value{"link_error_recovery", 0xAB},
                  Value{"link_downed", 0xFF}, Value{"port_rcv_errors", 3},
                  Value{"port_rcv_remote_physical_errors", 0},
                  Value{"port_rcv_switch_relay_errors", 0}, Value{"port_xmit_discards", 7},
                  Value{"port_xmit_constraint_errors", 0}, Value{"port_rcv_constraint_errors", 0},
                  Value{"local_link_integrity_errors", 5},
                  Value{"excessive_buffer_overrun_errors", 2}, Value{"VL15_dropped", 9},
                  Value{"port_xmit_data", 0x89ABCDEF}, Value{"port_rcv_data", 0},
                  Value{"port_xmit_packets", 0}, Value{"port_rcv_packets", 0},
                  Value{"port_xmit_wait", 0xFFFFFFFF}));
}

TEST(PmaAttributesTest, WhatTheAgentCannotCountIsAbsent) {
  const auto values = ParsePortCounters(Data{}, {.extended = true, .xmit_wait = false}, "switch/");
  EXPECT_EQ(values.size(), 12U) << "neither the wait nor the narrow traffic";
  EXPECT_THAT(values, Contains(Value{"switch/port_xmit_discards", 0}));
}

TEST(PmaAttributesTest, ExtendedCountersHave64Bits) {
  Data data{};
  Put(data, 8, 0xFEDCBA9876543210, 8);  // PortXmitData
  Put(data, 64, 5, 8);                  // PortMulticastRcvPkts
  const auto values = ParsePortCountersExtended(data, "");
  ASSERT_EQ(values.size(), 8U);
  EXPECT_EQ(values.front(), (Value{"port_xmit_data", 0xFEDCBA9876543210}));
  EXPECT_EQ(values.back(), (Value{"multicast_rcv_packets", 5}));
}

TEST(PmaAttributesTest, AbilitiesAreBitsOfTheMask) {
  const auto abilities = [](std::uint16_t mask) {
    Data data{};
    Put(data, 2, mask, 2);
    return ParseClassPortInfo(data);
  };
  EXPECT_EQ(abilities(0), (Abilities{}));
  EXPECT_EQ(abilities(1 << 9), (Abilities{.extended = true}));
  EXPECT_EQ(abilities(1 << 10), (Abilities{.extended = true}));
  EXPECT_EQ(abilities(1 << 12), (Abilities{.xmit_wait = true}));
  EXPECT_EQ(abilities(0x1200), (Abilities{.extended = true, .xmit_wait = true}));
}

TEST(PmaAttributesTest, TheNeighboursKindAndItsEndOfTheCable) {
  Data data{};
  Put(data, 2, 2, 1);   // NodeType
  Put(data, 36, 7, 1);  // LocalPortNum
  EXPECT_EQ(ParseNodeInfo(data), (Neighbour{.is_switch = true, .port = 7}));
  Put(data, 2, 1, 1);
  EXPECT_EQ(ParseNodeInfo(data), (Neighbour{.is_switch = false, .port = 7}));
}

}  // namespace
}  // namespace mad
}  // namespace rdmapulse::collectors
