// What an RC probe and the datagrams beside it say together, which neither says alone: RC hides
// what is lost behind what is late, a datagram cannot tell the two apart. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace rdmapulse::probes {

// How it stands with RC on a path: what waits past its deadline, or the last that ended.
enum class RcState : std::uint8_t { kUnknown, kInTime, kWaiting, kLate, kFailed };

// Of the datagrams that went out while that was so. One that is young and not answered is none.
struct DatagramsSeen {
  std::uint32_t in_time = 0;
  std::uint32_t late = 0;
  std::uint32_t lost = 0;  // no answer within their hard deadline, nor later

  bool operator==(const DatagramsSeen&) const = default;
};

enum class Joint : std::uint8_t {
  kUnknown,           // no datagram tells, or both are well
  kBlocked,           // nothing comes through: held up, or all of it lost
  kLossyButRepaired,  // datagrams are lost, and RC sends again what is
  kSlow,              // both arrive, late: something holds them up
  kTransport,         // datagrams arrive in time: it is RC itself that waits
};
std::string_view Name(Joint joint);  // "blocked", "lossy_but_repaired", …; empty: unknown
// A sentence for people; empty: unknown.
std::string_view InWords(Joint joint);

Joint Join(RcState rc, const DatagramsSeen& datagrams);

}  // namespace rdmapulse::probes
