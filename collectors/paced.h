// Reads a source when it is due, and hands out its last reading in between.
#pragma once

#include <chrono>
#include <utility>

#include "collectors/counter_folder.h"
#include "collectors/reading.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// Passes come a little early or late: what is due within this is due.
constexpr Duration kDueSlack = std::chrono::milliseconds(20);

// One thread. `Source` is what reads.
template <typename Source>
class Paced {
 public:
  explicit Paced(Source source) : source_(std::move(source)) {}

  bool IsDue(TimePoint now, Duration period) const {
    return !read_ || now - at_ >= period - kDueSlack;
  }

  // `read(source, reading)` replaces the reading, when it is due. Appends the reading, whether it
  // is new or the last, and adds to `success`.
  template <typename Read>
  void Run(TimePoint now, Duration period, Read read, Collection& collection, bool& success) {
    if (IsDue(now, period)) {
      reading_ = {};
      result_ = read(source_, reading_);
      reading_.period = period;
      read_ = true;
      at_ = now;
    }
    success &= result_.success;
    if (!result_.exists) return;
    if (period > Duration::zero()) {
      collection.readings.push_back(reading_);
    } else {
      collection.readings.push_back(std::move(reading_));  // never handed out again
    }
  }

  Source& source() { return source_; }

 private:
  Source source_;
  bool read_ = false;
  TimePoint at_{};
  SourceRead result_{};
  Reading reading_{};
};

}  // namespace rdmapulse::collectors
