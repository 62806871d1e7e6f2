// Where a canonical signal (reference/counter-catalog.yaml) is exported: design.md 5.4, "Signal →
// label". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/base/rdma.h"
#include "daemon/metrics/family_set.h"
#include "daemon/metrics/family_table.h"

namespace rdmapulse::metrics {

struct SignalPlace {
  Family family = Family::kSignalTotal;
  std::string_view label;  // the label that tells signals of one family apart; empty: none
  std::string_view value;
  std::uint32_t divisor = 1;  // signal's unit / divisor = the family's base unit

  bool operator==(const SignalPlace&) const = default;
};

// nullopt: no family of its own; it goes to rdmapulse_signal_total (or rdmapulse_signal). Never the
// same place for two signals of one port.
std::optional<SignalPlace> PlaceOf(std::string_view signal, LinkLayer link_layer);

struct SignalSample {
  std::string_view signal{};
  std::optional<std::uint32_t> priority{};
  std::string_view part_label{};  // what else tells its values apart: "part", "cos"; empty: nothing
  std::string_view part{};
  bool gauge = false;
  std::uint64_t value = 0;
};

// `subject` says whose it is: device, port, netdev.
void AddSignal(FamilySet& families, const Labels& subject, LinkLayer link_layer,
               const SignalSample& sample);

}  // namespace rdmapulse::metrics
