// What is made of the flight recorder's ring: it is written to the disk when something is found,
// and drawn as curves for whoever asks what led to a finding. The loop copies the ring and no more;
// the work is on a thread of its own, one piece at a time, that yields to the loop. Loop thread,
// but for Draw.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/blocking_pool.h"
#include "daemon/health/finding.h"
#include "daemon/http/traces.h"
#include "daemon/recorder/recording.h"
#include "daemon/recorder/store.h"

namespace rdmapulse {

class Recordings : public http::Traces {
 public:
  struct Source {
    std::function<std::shared_ptr<const std::vector<health::Finding>>()> findings;
    std::function<recorder::Recording()> take;
  };

  // Each holds a copy of the ring: 16 MiB at most (recorder.memory_bytes).
  static constexpr std::size_t kDrawnAtOnceMax = 4;

  Recordings(boost::asio::io_context& loop, const config::Recorder& settings, Source source);

  void Save(recorder::Recording recording, const health::Finding& finding);
  std::uint64_t saved() const { return saved_; }
  std::uint64_t failed() const { return failed_; }

  // 200 with recorder::Json; 404: no such finding now, or nothing is held of it; 503: too many ask.
  void Draw(const std::string& id, std::function<void(http::TraceAnswer)> handler) override;

  // Waits for what is at work.
  void Stop() { pool_.Stop(); }

 private:
  void Begin(const std::string& id, const std::function<void(http::TraceAnswer)>& handler);

  boost::asio::io_context& loop_;
  const Source source_;
  const recorder::Store store_;  // the pool's only
  BlockingPool pool_;
  std::uint64_t saved_ = 0;
  std::uint64_t failed_ = 0;
  std::size_t drawn_ = 0;  // at once
};

}  // namespace rdmapulse
