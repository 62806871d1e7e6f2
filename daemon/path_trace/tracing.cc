#include "daemon/path_trace/tracing.h"

#include <memory>
#include <random>
#include <utility>

#include "daemon/base/unix_time.h"

namespace rdmapulse::path_trace {

TracerSettings SettingsOf(const config::Config& config) {
  const auto byte_of = [](const config::Class& traffic_class) {
    return static_cast<std::uint8_t>(traffic_class.dscp << 2U);
  };
  TracerSettings settings;
  settings.interval = config.trace.interval;
  settings.packets_per_second = config.trace.packets_per_second;
  settings.hops_max = config.trace.hops_max;
  settings.traffic_class = {byte_of(config.classes.lossless), byte_of(config.classes.control)};
  return settings;
}

Tracing::Tracing(boost::asio::io_context& loop, const config::Config& config,
                 std::function<void(const std::string&)> journal)
    : timer_(loop),
      sockets_(loop, [this](const IcmpAnswer& answer, const std::string& from,
                            TimePoint received) { tracer_.OnAnswer(answer, from, received); }),
      tracer_({.wire = sockets_,
               .due_changed = [this] { Arm(); },
               .journal = std::move(journal),
               .unix_us = UnixTimeNowUs,
               .random_marker =
                   [random = std::make_shared<std::random_device>()] {
                     return static_cast<std::uint16_t>((*random)());
                   }},
              SettingsOf(config)) {}

void Tracing::Configure(const config::Config& config) {
  tracer_.Configure(SettingsOf(config));
  Arm();
}

void Tracing::OnPaths(const std::vector<probes::PathSnapshot>& paths) {
  tracer_.OnPaths(paths, Clock::now());
}

void Tracing::Ask(const std::string& peer, probes::Class traffic_class, Tracer::Listener listener,
                  std::uint16_t sport) {
  tracer_.Ask(peer, traffic_class, std::move(listener), sport);
}

void Tracing::Arm() {
  if (stopping_) return;
  const TimePoint due = tracer_.NextDue(Clock::now());
  if (due == TimePoint::max()) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(due);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    tracer_.Tick(Clock::now());
    Arm();
  });
}

void Tracing::Stop() {
  stopping_ = true;
  timer_.cancel();
  sockets_.Rest();
}

}  // namespace rdmapulse::path_trace
