#include "daemon/verdict.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "daemon/path_trace/shared_hops.h"

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

constexpr Duration kConnecting = 10s;  // a session that is not up so soon is not gone

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

Verdict::Verdict(About about, const config::HealthSettings& settings,
                 const config::Recorder& recorder, Handlers handlers)
    : about_(std::move(about)),
      handlers_(std::move(handlers)),
      engine_(about_.host, settings),
      recorder_(about_.host, settings.lossless_priority, recorder),
      counted_(about_.unix_minus_monotonic),
      findings_(std::make_shared<const std::vector<health::Finding>>()) {}

void Verdict::OnDevices(const std::vector<DeviceInfo>& devices, TimePoint now) {
  devices_ = devices;
  engine_.ForgetPorts([this](const health::PortName& port) { return !wanted_(port.device); });
  for (const auto& sample : device_samples_.Take(devices, At(now), wanted_)) Tell(sample);
}

void Verdict::OnCounted(const collectors::CountedHost& counted) {
  for (const health::PortSample& sample : counted_.Take(counted, devices_)) {
    AddPauses(sample);
    Tell(sample);
  }
}

void Verdict::AddPauses(const health::PortSample& sample) {
  if (!sample.priority) return;
  for (const auto& [signal, direction] :
       {std::pair(health::Signal::kRxPauseUs, health::Direction::kRx),
        std::pair(health::Signal::kTxPauseUs, health::Direction::kTx)}) {
    if (!sample.counters.Has(signal)) continue;
    pause_peaks_.Add({sample.port, *sample.priority, direction}, sample.time,
                     sample.counters.Get(signal));
  }
}

void Verdict::OnProbe(const probes::ProbeNews& news, TimePoint now) {
  if (!news.end) return Tell(health::ProbePosted{At(news.posted), PathOf(news)});
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
  if (news.end->responder) result.responder_us = Seconds(*news.end->responder) * 1e6;
  Tell(result);
}

void Verdict::OnPeers(const std::vector<PeerSnapshot>& peers, TimePoint now) {
  std::set<std::string_view> listed;
  for (const PeerSnapshot& peer : peers) {
    listed.insert(peer.name);
    Session& session = sessions_.try_emplace(peer.name, Session{now, {}, {}}).first->second;
    if (!peer.up && !session.told && now - session.first < kConnecting) continue;
    const std::optional<health::PeerSample>& told = session.told;
    if (told && told->session_up == peer.up && told->epoch == peer.epoch) continue;
    session.told = {At(now), peer.name, peer.up, peer.epoch};
    Tell(*session.told);
  }
  std::erase_if(sessions_, [this, &listed](const auto& session) {
    if (listed.contains(session.first)) return false;
    engine_.ForgetPeer(session.first);
    return true;
  });
}

void Verdict::OnPeerConfig(const std::string& peer, std::vector<std::string> differs,
                           TimePoint now) {
  const auto found = sessions_.find(peer);
  if (found == sessions_.end() || found->second.differs == differs) return;
  found->second.differs = std::move(differs);
  // A trace has no column for it.
  engine_.Add(health::PeerConfigSample{At(now), peer, found->second.differs});
}

void Verdict::Evaluate(TimePoint now, Duration loop_late, bool maintenance) {
  Tell(health::HostSample{.time = At(now),
                          .epoch = about_.epoch,
                          .loop_late = std::chrono::duration_cast<health::Time>(loop_late),
                          .maintenance = maintenance});
  std::vector<health::Finding> transitions = engine_.Evaluate(At(now));
  std::vector<health::Finding> open = engine_.Findings();
  if (handlers_.routes) {
    const auto routes = handlers_.routes();
    path_trace::AddRoutes(*routes, open, At(now), transitions);
    path_trace::AddRoutes(*routes, open, At(now), open);
  }
  for (const health::Finding& finding : transitions) {
    if (finding.state == health::State::kActive) series_.Count(finding.condition);
    if (recorder_.Wants(finding)) handlers_.record(recorder_.Take(), finding);
    if (IsNews(finding)) handlers_.journal(finding);
  }
  findings_ = std::make_shared<const std::vector<health::Finding>>(std::move(open));
  series_.Update(*findings_, now);
}

// Only what began can end; a suspicion becomes a finding within seconds or goes away.
bool Verdict::IsNews(const health::Finding& finding) {
  switch (finding.state) {
    case health::State::kSuspect: return false;
    case health::State::kActive: begun_.insert(finding.id); return true;
    case health::State::kClearing: return begun_.contains(finding.id);
    case health::State::kOk: break;
  }
  return begun_.erase(finding.id) > 0;
}

std::vector<PortId> Verdict::FastPorts(TimePoint now) const {
  std::vector<PortId> ports;
  for (const health::PortName& name : engine_.FastPorts(At(now))) {
    if (name.port) ports.push_back({name.device, *name.port});
  }
  return ports;
}

}  // namespace rdmapulse
