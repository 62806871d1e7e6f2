// What a driver has said it does not have, so that it is not asked for it every second. Pure.
#pragma once

#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// A driver learns to answer by being loaded anew or by a change of its firmware's mode, which
// operators do and then look for the result.
constexpr Duration kRefusedFor = std::chrono::minutes(2);

// The errors by which a driver says "not here" (EINVAL, EOPNOTSUPP).
inline bool IsRefusal(int error) { return error == EINVAL || error == EOPNOTSUPP; }

// Keys are of the user's making: netdev and message.
class Refusals {
 public:
  bool Holds(const std::string& subject, int what, TimePoint now) const {
    const auto found = until_.find({subject, what});
    return found != until_.end() && now < found->second;
  }
  void Remember(const std::string& subject, int what, TimePoint now) {
    until_[{subject, what}] = now + kRefusedFor;
  }
  // Forgets all subjects but these (sorted).
  void KeepOnly(const std::vector<std::string>& subjects);

 private:
  std::map<std::pair<std::string, int>, TimePoint> until_;
};

}  // namespace rdmapulse::collectors
