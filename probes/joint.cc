#include "probes/joint.h"

namespace rdmapulse::probes {

std::string_view Name(Joint joint) {
  switch (joint) {
    case Joint::kUnknown: break;
    case Joint::kBlocked: return "blocked";
    case Joint::kLossyButRepaired: return "lossy_but_repaired";
    case Joint::kSlow: return "slow";
    case Joint::kTransport: return "transport";
  }
  return {};
}

std::string_view InWords(Joint joint) {
  switch (joint) {
    case Joint::kUnknown: break;
    case Joint::kBlocked:
      return "neither RC probes nor datagrams come through: the class is held up or dead on the "
             "way";
    case Joint::kLossyButRepaired:
      return "datagrams are lost and RC probes late: packets die on the way, and RC sends them "
             "again";
    case Joint::kSlow:
      return "RC probes and datagrams both arrive late: the class is held up, and nothing is lost";
    case Joint::kTransport:
      return "datagrams arrive in time while RC waits: the network delivers, and RC's own timer or "
             "the peer's queue pair is what it waits for";
  }
  return {};
}

Joint Join(RcState rc, const DatagramsSeen& datagrams) {
  if (rc == RcState::kUnknown || rc == RcState::kInTime) return Joint::kUnknown;
  const auto& [in_time, late, lost] = datagrams;
  const bool some_arrive = in_time > 0 || late > 0;
  // Of one that is late RC has made sure that it arrived; what still waits, or was given up, may be
  // lost as a datagram is.
  if (lost > 0) {
    return some_arrive || rc == RcState::kLate ? Joint::kLossyButRepaired : Joint::kBlocked;
  }
  if (late > 0) return Joint::kSlow;
  return in_time > 0 ? Joint::kTransport : Joint::kUnknown;
}

}  // namespace rdmapulse::probes
