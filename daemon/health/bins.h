// Events in bins of fixed length: of the cumulative totals given, what was added in each. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "daemon/health/inputs.h"

namespace rdmapulse::health {

template <std::size_t kColumns>
class EventBins {
 public:
  using Row = std::array<double, kColumns>;

  EventBins(Time length, std::size_t count) : length_(length), count_(count) {}

  // `totals` never go down. The first call only sets where they stand.
  void Add(Time now, const Row& totals) {
    if (rows_.empty()) {
      start_ = now;
      rows_.push_front({});
      before_ = totals;
    }
    // A gap of many bins is as many empty ones, and no more than are kept.
    for (std::size_t i = 0; i <= count_ && now - start_ >= length_; ++i) {
      rows_.push_front({});
      start_ += length_;
    }
    if (now - start_ >= length_) start_ = now;
    while (rows_.size() > count_) rows_.pop_back();
    for (std::size_t i = 0; i < kColumns; ++i) {
      rows_.front()[i] += totals[i] > before_[i] ? totals[i] - before_[i] : 0;
    }
    before_ = totals;
  }

  // Newest first; [0] is running.
  const std::deque<Row>& rows() const { return rows_; }
  std::size_t count() const { return count_; }
  Time length() const { return length_; }

  Row Sum(std::size_t bins) const {
    Row sum{};
    for (std::size_t b = 0; b < bins && b < rows_.size(); ++b) {
      for (std::size_t i = 0; i < kColumns; ++i) sum[i] += rows_[b][i];
    }
    return sum;
  }

 private:
  Time length_;
  std::size_t count_;
  Time start_{};
  std::deque<Row> rows_;
  Row before_{};
};

}  // namespace rdmapulse::health
