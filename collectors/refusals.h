// What a driver has said it does not have, so that it is not asked for it every second. Pure.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// A driver learns to answer by being loaded anew or by a change of its firmware's mode, which
// operators do and then look for the result.
constexpr Duration kRefusedFor = std::chrono::minutes(2);
// What is refused again and again is asked for ever less often, up to this: mlx5 writes a line into
// the kernel's log each time.
constexpr Duration kRefusedLongest = std::chrono::minutes(30);

// The errors by which a driver says "not here" (EINVAL, EOPNOTSUPP).
inline bool IsRefusal(int error) { return error == EINVAL || error == EOPNOTSUPP; }

// Of one file: after each refusal it is left alone, the first time for kRefusedFor, then each time
// twice as long. Whoever was answered begins with a new one.
class RefusalBackOff {
 public:
  // errno of the last refusal, while it holds.
  std::optional<int> Holds(TimePoint now) const {
    return error_ != 0 && now < until_ ? std::optional(error_) : std::nullopt;
  }
  void Refused(int error, TimePoint now) {
    error_ = error;
    until_ = now + next_;
    next_ = std::min(2 * next_, kRefusedLongest);
  }

 private:
  int error_ = 0;
  TimePoint until_{};
  Duration next_ = kRefusedFor;
};

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
