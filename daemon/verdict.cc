#include "daemon/verdict.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace rdmapulse {
namespace {

health::ProbeOutcome OutcomeOf(probes::Outcome outcome) {
  switch (outcome) {
    case probes::Outcome::kOk: return health::ProbeOutcome::kOk;
    case probes::Outcome::kLateBlocked: return health::ProbeOutcome::kLateBlocked;
    case probes::Outcome::kLateRetx: return health::ProbeOutcome::kLateRetx;
    case probes::Outcome::kLateSelf: return health::ProbeOutcome::kLateSelf;
    case probes::Outcome::kFailed: return health::ProbeOutcome::kFailed;
    case probes::Outcome::kAborted: break;
  }
  return health::ProbeOutcome::kAborted;
}

health::ProbePath PathOf(const probes::ProbeNews& news) {
  health::ProbePath path;
  path.peer = news.key.peer;
  path.traffic_class = news.key.traffic_class == probes::Class::kLossless
                           ? health::ProbeClass::kLossless
                           : health::ProbeClass::kControl;
  path.op = std::string(probes::Name(news.op));
  if (news.sport != 0) path.sport = news.sport;
  path.local = {news.key.local.device, news.key.local.port};
  return path;
}

}  // namespace

Verdict::Verdict(About about, const config::HealthSettings& settings, Journal journal)
    : about_(std::move(about)),
      journal_(std::move(journal)),
      engine_(about_.host, settings),
      findings_(std::make_shared<const std::vector<health::Finding>>()) {}

health::Time Verdict::At(TimePoint time) const {
  return std::chrono::duration_cast<health::Time>(time.time_since_epoch()) +
         about_.unix_minus_monotonic;
}

void Verdict::OnDevices(const std::vector<DeviceInfo>& devices, TimePoint now) {
  for (const DeviceInfo& known : devices_) {
    const bool listed = std::any_of(devices.begin(), devices.end(), [&known](const auto& device) {
      return device.name == known.name;
    });
    if (listed) continue;
    for (const PortInfo& port : known.ports) {
      health::PortSample sample;
      sample.time = At(now);
      sample.port = {known.name, port.port};
      sample.device_present = false;
      engine_.Add(sample);
    }
  }
  devices_ = devices;
  for (const DeviceInfo& device : devices) {
    for (const PortInfo& port : device.ports) {
      health::PortSample sample;
      sample.time = At(now);
      sample.port = {device.name, port.port};
      if (port.state != PortState::kUnknown) {
        sample.up = port.state == PortState::kActive || port.state == PortState::kActiveDefer;
      }
      if (port.rate_bytes_per_second) {
        sample.rate_bytes_per_second = static_cast<double>(*port.rate_bytes_per_second);
      }
      if (port.netdev_mtu_bytes) sample.mtu_bytes = static_cast<double>(*port.netdev_mtu_bytes);
      sample.device_present = device.present;
      engine_.Add(sample);
    }
  }
}

std::map<Verdict::Origin, health::Time> Verdict::NewReadings(
    const collectors::CountedHost& counted) {
  std::map<Origin, health::Time> fresh;
  for (const collectors::RawReading& raw : counted.raw) {
    const collectors::Reading& reading = raw.Values();
    const Origin origin{reading.device, reading.port, reading.netdev, reading.source};
    TimePoint& taken = taken_[origin];
    if (reading.finished <= taken) continue;
    taken = reading.finished;
    fresh[origin] = At(reading.started + (reading.finished - reading.started) / 2);
  }
  return fresh;
}

void Verdict::OnCounted(const collectors::CountedHost& counted) {
  const std::map<Origin, health::Time> fresh = NewReadings(counted);
  if (fresh.empty()) return;
  for (const collectors::SubjectSignals& subject : counted.signals) AddSubject(subject, fresh);
}

void Verdict::AddSubject(const collectors::SubjectSignals& subject,
                         const std::map<Origin, health::Time>& fresh) {
  if (subject.device.empty()) return;
  health::PortName port{subject.device, subject.port};
  if (!port.port) {
    // A device's own counters belong to its port where it has but one.
    const auto device = std::find_if(devices_.begin(), devices_.end(), [&subject](const auto& d) {
      return d.name == subject.device;
    });
    if (device == devices_.end() || device->ports.size() != 1) return;
    port.port = device->ports.front().port;
  }
  std::map<std::pair<health::Time, std::optional<std::uint32_t>>, health::Counters> samples;
  for (const collectors::SignalValue& value : subject.values) {
    const std::optional<health::Signal> signal = health::ParseSignal(value.signal);
    if (!signal || value.saturated || value.gauge || !value.part.empty()) continue;
    const auto read = fresh.find({subject.device, subject.port, value.netdev, value.source});
    if (read == fresh.end()) continue;
    samples[{read->second, value.priority}].Set(*signal,
                                                Continued({port, value.priority, *signal}, value));
  }
  for (const auto& [when, counters] : samples) {
    health::PortSample sample;
    sample.time = when.first;
    sample.port = port;
    sample.priority = when.second;
    sample.counters = counters;
    engine_.Add(sample);
  }
}

std::uint64_t Verdict::Continued(const SignalPlace& place, const collectors::SignalValue& value) {
  const auto [found, is_new] =
      threads_.try_emplace(place, Thread{value.source, value.restarts, 0, value.value});
  Thread& thread = found->second;
  if (!is_new && (thread.source != value.source || thread.restarts != value.restarts)) {
    thread.source = value.source;
    thread.restarts = value.restarts;
    thread.offset = thread.last - value.value;
  }
  return thread.last = value.value + thread.offset;
}

void Verdict::OnProbe(const probes::ProbeNews& news, TimePoint now) {
  if (!news.end) return engine_.Add(health::ProbePosted{At(news.posted), PathOf(news)});
  health::ProbeResult result;
  result.time = At(now);
  result.posted = At(news.posted);
  result.path = PathOf(news);
  if (news.end->outcome) result.outcome = OutcomeOf(*news.end->outcome);
  if (news.end->rtt) {
    result.rtt = std::chrono::duration_cast<health::Time>(*news.end->rtt);
    result.rtt_us = Seconds(*news.end->rtt) * 1e6;
  } else {
    result.status = std::string(probes::StatusName(news.end->status.code));
  }
  engine_.Add(result);
}

void Verdict::OnPeers(const std::vector<PeerSnapshot>& peers, TimePoint now) {
  for (const PeerSnapshot& peer : peers) {
    const Session session{peer.up, peer.epoch};
    const auto [known, is_new] = sessions_.try_emplace(peer.name, session);
    if (!is_new && known->second == session) continue;
    known->second = session;
    engine_.Add(health::PeerSample{At(now), peer.name, session.up, session.epoch});
  }
}

void Verdict::Evaluate(TimePoint now, Duration loop_late, bool maintenance) {
  engine_.Add(health::HostSample{.time = At(now),
                                 .epoch = about_.epoch,
                                 .loop_late = std::chrono::duration_cast<health::Time>(loop_late),
                                 .maintenance = maintenance});
  for (const health::Finding& finding : engine_.Evaluate(At(now))) {
    if (finding.state == health::State::kActive) series_.Count(finding.condition);
    journal_(finding);
  }
  findings_ = std::make_shared<const std::vector<health::Finding>>(engine_.Findings());
  series_.Update(*findings_, now);
}

std::vector<PortId> Verdict::FastPorts(TimePoint now) const {
  std::vector<PortId> ports;
  for (const health::PortName& name : engine_.FastPorts(At(now))) {
    if (name.port) ports.push_back({name.device, *name.port});
  }
  return ports;
}

}  // namespace rdmapulse
