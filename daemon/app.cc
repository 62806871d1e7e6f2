#include "daemon/app.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <random>
#include <utility>

#include "config/load.h"
#include "config/network.h"
#include "config/patterns.h"
#include "config/reload.h"
#include "config/wanted_devices.h"
#include "daemon/base/host_name.h"
#include "daemon/base/unix_time.h"
#include "daemon/catalogue_files.h"
#include "daemon/configured_series.h"
#include "daemon/health/wording.h"
#include "daemon/version.h"

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBeat = kGrid;       // how finely our own lateness is known (detection.md g2)
constexpr Duration kPublish = 1s;       // though nobody asks: /healthz goes by its age
constexpr Duration kJudge = 500ms;      // detection.md 2.1
constexpr Duration kJudgeFast = 100ms;  // while something smells
constexpr Duration kCompare = 5s;       // a difference is a finding after half a minute
constexpr Duration kLeaveAfter = 5s;    // a stuck kernel read does not keep us (design.md 4)

// A validated pattern list compiles.
std::shared_ptr<const config::Patterns> Compiled(const std::vector<std::string>& patterns) {
  return std::make_shared<const config::Patterns>(*config::Patterns::Compile(patterns));
}

peers::Options PeersOptions(const config::Config& config, std::uint64_t epoch) {
  peers::Options options;
  options.listen = config.control.listen;
  options.host = HostName(config.host.name);
  options.agent_version = std::string(kVersion);
  options.epoch = epoch;
  options.instance = peers::RandomInstance();
  const config::Tls& tls = config.control.tls;
  if (tls != config::Tls{}) options.tls = {.cert = tls.cert, .key = tls.key, .ca = tls.ca};
  options.random = [random = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(random);
  };
  return options;
}

void Journal(const std::string& line) { spdlog::info("{}", line); }

void JournalFinding(const health::Finding& finding) {
  const bool loud = finding.state == health::State::kActive &&
                    finding.severity >= health::Severity::kMajor && !finding.explained_by;
  spdlog::log(loud ? spdlog::level::warn : spdlog::level::info, "finding {}",
              health::Line(finding));
}

}  // namespace

App::App(config::Config config, std::string config_path)
    : config_(std::move(config)),
      config_path_(std::move(config_path)),
      epoch_(UnixTimeNowUs()),
      host_(HostName(config_.host.name)),
      verdict_({.host = host_,
                .epoch = epoch_,
                .unix_minus_monotonic = std::chrono::microseconds(epoch_) -
                                        std::chrono::duration_cast<std::chrono::microseconds>(
                                            started_.time_since_epoch())},
               config::DetectorSettings(config_), config_.recorder,
               {.journal = JournalFinding,
                .record =
                    [this](recorder::Recording recording, const health::Finding& finding) {
                      recordings_.Save(std::move(recording), finding);
                    },
                .routes = [this] { return tracing_.routes(); }}),
      recordings_(loop_, config_.recorder,
                  {.findings = [this] { return verdict_.Findings(); },
                   .take = [this] { return verdict_.TakeRecording(); }}),
      transport_(loop_, {.device = {.qps_max = config_.budget.qps_per_nic,
                                    .family = probes::ParseGidFamily(config_.gid.family),
                                    .datagrams = config_.ud.interval.count() > 0,
                                    .by_cm = config_.paths.connect == "rdma_cm"},
                         .ignored = [](const PortId&) { return false; },
                         .journal = Journal}),
      control_(loop_, PeersOptions(config_, epoch_), peer_events_),
      tracing_(loop_, config_, Journal),
      asked_probes_(
          loop_, prober_, tracing_, [this](const std::string& peer) { return control_.Has(peer); },
          [this](bool on) { maintenance_ = on; }),
      prober_({.transport = transport_,
               .link = control_,
               .now = Clock::now,
               .loop_late = [this](TimePoint handled) { return lateness_.At(handled); },
               .ports_changed =
                   [this](const std::vector<probes::PeerPort>& ports) {
                     control_.SetLocalPorts(ports);
                   },
               .due_changed = [this](TimePoint due) { ArmProber(due); },
               .journal = Journal,
               .news =
                   [this](const auto& news) {
                     verdict_.OnProbe(news, Clock::now());
                     asked_probes_.OnScheduled(news);
                   }},
              epoch_),
      chooser_(loop_, [this] { TakePeers(); }),
      collection_(loop_, {.sysfs = config_.sysfs_root, .procfs = config_.proc_root},
                  {.discovered = [this](const auto& devices) { OnDevices(devices); },
                   .collected = [this](const DeviceInfo& device,
                                       const auto& collection) { OnCollected(device, collection); },
                   .netdevs_collected = {},
                   .journal = Journal}),
      counters_(LoadCatalogue(config_.collect.catalogue).catalogue),
      service_(
          loop_, [this] { Reload(); }, [this] { loop_.stop(); }) {
  peer_events_.Bind(prober_);
}

Result<void> App::Start() {
  service_.Start();
  store_.AskBy([this] {
    boost::asio::post(loop_, [this] {
      if (!stopping_) store_.Publish(TakeSnapshot());
    });
  });
  if (Result<void> listening = control_.Listen(); !listening) return listening;
  auto serving = http::Server::Start(HttpOptions(), store_, asked_probes_, recordings_);
  if (!serving) return tl::unexpected(serving.error());
  http_ = std::move(*serving);
  Configure();
  collection_.Start();
  Beat(Clock::now());
  Publish();
  service_.Ready();
  spdlog::info("rdmapulsed {} started on {}: {} peers, metrics on {}", kVersion, host_,
               config_.peers.size(), config_.http.listen);
  return {};
}

int App::Run() {
  loop_.run();
  spdlog::info("stopping");
  service_.Stop();
  loop_.restart();
  StopAll();
  loop_.run_for(kLeaveAfter);
  if (!loop_.stopped()) {
    spdlog::warn("a kernel call is stuck; leaving without it");
    std::_Exit(0);  // its thread cannot be joined
  }
  return 0;
}

void App::StopAll() {
  stopping_ = true;
  beat_timer_.cancel();
  publish_timer_.cancel();
  asked_probes_.Stop();
  tracing_.Stop();
  http_.reset();
  chooser_.Stop();
  control_.Stop();
  collection_.Stop();
  recordings_.Stop();
  transport_.Stop();
  prober_timer_.cancel();
}

void App::Configure() {
  const auto ignored = Compiled(config_.ports.ignore);
  transport_.SetIgnored([ignored](const PortId& port) { return ignored->MatchesAny(port.Text()); });
  transport_.SetFamily(probes::ParseGidFamily(config_.gid.family));
  transport_.SetDatagrams(config_.ud.interval.count() > 0);
  const auto polled = Compiled(config_.polling.devices);
  transport_.SetLooks([polled, looks = config_.polling.looks](const std::string& device) {
    return polled->MatchesAny(device) ? looks : 0;
  });
  transport_.SetByCm(config_.paths.connect == "rdma_cm");
  collection_.Configure({.interval = config_.collect.interval,
                         .fast_interval = config_.collect.fast_interval,
                         .qp_counters = config_.collect.qp_counters,
                         .mad = config_.collect.mad,
                         .wanted = config::WantedDevices(config_.devices)});
  counters_.SetRules(SeriesRulesOf(config_.collect));
  verdict_.SetSettings(config::DetectorSettings(config_));
  verdict_.SetWanted(config::WantedDevices(config_.devices));
  tracing_.Configure(config_);
  chooser_.Configure(config_, host_, control_.listen_port());
  TakePeers();
}

void App::TakePeers() {
  const PeerChoice& choice = chooser_.choice();
  control_.SetGuests(choice.guests);
  control_.SetPeers(choice.probed);
  prober_.Configure(probes::MakeSettings(config_, choice.probed));
  service_.Status("probing " + std::to_string(choice.probed.size()) + " peers");
}

void App::Beat(TimePoint due) {
  const TimePoint now = Clock::now();
  late_since_judgement_ = std::max(late_since_judgement_, now - due);
  if (now >= next_judgement_) Judge(now);
  // Where nothing is probed, nothing is made late.
  const bool probes = prober_.NextDue() != TimePoint::max();
  const TimePoint soon = now + kBeat / 2;
  const TimePoint next = OnGrid(probes ? soon : std::max(soon, next_judgement_), kBeat);
  lateness_.Beat(due, now, next);
  beat_timer_.expires_at(next);
  beat_timer_.async_wait([this, next](const boost::system::error_code& error) {
    if (!error) Beat(next);
  });
}

void App::Judge(TimePoint now) {
  TakeCounters(now);
  const std::vector<PeerSnapshot> peers = control_.Status(now);
  verdict_.OnPeers(peers, now);
  if (now >= next_comparison_) {
    next_comparison_ = now + kCompare;
    for (const PeerSnapshot& peer : peers) {
      verdict_.OnPeerConfig(peer.name, prober_.MismatchesWith(peer.name), now);
    }
  }
  verdict_.Evaluate(now, std::exchange(late_since_judgement_, Duration::zero()),
                    maintenance_.value_or(config_.maintenance));
  const std::vector<PortId> fast = verdict_.FastPorts(now);
  for (const PortId& port : fast) collection_.SampleFast(port, now + kJudge);
  next_judgement_ = now + (fast.empty() ? kJudge : kJudgeFast) - kBeat / 2;
}

void App::Publish() {
  store_.Publish(TakeSnapshot());
  publish_timer_.expires_at(OnGrid(Clock::now() + kPublish / 2, kPublish));
  publish_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) Publish();
  });
}

void App::ArmProber(TimePoint due) {
  if (stopping_) return;
  prober_timer_.expires_at(due);
  prober_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnProberDue();
  });
}

void App::OnProberDue() {
  prober_.Tick(Clock::now());
  if (prober_.NextDue() != TimePoint::max()) ArmProber(prober_.NextDue());
}

void App::OnDevices(const std::vector<DeviceInfo>& devices) {
  if (devices.empty() && !std::exchange(said_no_devices_, true)) {
    spdlog::warn("no RDMA device here: counting and probing nothing until one appears");
  }
  chooser_.SetDevices(devices);
  counters_.KeepOnly(devices);
  transport_.SetDevices(devices, Clock::now());
  verdict_.OnDevices(devices, Clock::now());
}

void App::OnCollected(const DeviceInfo& device, const collectors::Collection& collection) {
  TimePoint started = TimePoint::max();
  TimePoint finished = TimePoint::min();
  for (const collectors::Reading& reading : collection.readings) {
    if (reading.period > Duration::zero()) continue;  // may be the last reading once more
    started = std::min(started, reading.started);
    finished = std::max(finished, reading.finished);
  }
  if (started <= finished) covered_[device.name] = {started, finished};
}

// All devices' passes since the last time at once: what they mean together is found once.
void App::TakeCounters(TimePoint now) {
  const std::vector<DeviceInfo>& devices = collection_.devices();
  counters_.SetQuarantined(collection_.Quarantined(now));
  for (const auto& collection : collection_.Latest(now)) {
    if (collection != nullptr) counters_.Take(collection, devices, now);
  }
  const auto counted = counters_.At(now);
  verdict_.OnCounted(*counted);
  const auto covered = std::exchange(covered_, {});
  for (const DeviceInfo& device : devices) {
    const auto span = covered.find(device.name);
    if (span == covered.end()) continue;
    for (const PortInfo& port : device.ports) {
      const auto total =
          collectors::AckTimeoutRetransmissions(*counted, device.name, port.port, device.driver);
      if (!total) continue;
      const auto& [started, finished] = span->second;
      prober_.OnRetransmits({device.name, port.port}, started, finished, *total);
    }
  }
}

void App::Reload() {
  service_.Reloading();
  const Result<std::string> text = config::ReadFile(config_path_);
  if (!text) {
    spdlog::error("reload refused, the old configuration stays: {}", text.error().Text());
  } else {
    config::LoadResult loaded = config::Load(*text);
    for (const config::Problem& problem : loaded.problems) {
      spdlog::log(problem.warning ? spdlog::level::warn : spdlog::level::err, "{}",
                  config::Format(problem, config_path_));
    }
    LoadedCatalogue catalogue = LoadCatalogue(loaded.config.collect.catalogue);
    for (const std::string& problem : catalogue.problems) spdlog::error("{}", problem);
    if (loaded.Usable() && catalogue.problems.empty()) {
      counters_.SetCatalogue(std::move(catalogue.catalogue));
      Apply(std::move(loaded.config));
    } else {
      spdlog::error("reload refused, the old configuration stays");
    }
  }
  service_.Ready();
}

void App::Apply(config::Config next) {
  const config::Changes changes = config::Diff(config_, next);
  for (const std::string& key : changes.needs_restart) {
    spdlog::warn("reload: {} has changed and takes effect after a restart", key);
  }
  if (next.maintenance != config_.maintenance) maintenance_.reset();
  config_ = std::move(next);
  Configure();
  store_.Publish(TakeSnapshot());  // who may read the API goes by it
  spdlog::info("reloaded: {} peers, {} added, {} removed", config_.peers.size(),
               changes.peers_added.size(), changes.peers_removed.size());
}

// The predicate runs on the HTTP thread: what it looks at comes with the snapshot.
http::ServerOptions App::HttpOptions() const {
  http::ServerOptions options;
  options.listen = config_.http.listen;
  options.socket = config_.http.socket;
  options.api_allowed = [&store = store_](const boost::asio::ip::address& client) {
    return config::AnyContains(store.Current()->api_allow, client.to_string());
  };
  return options;
}

}  // namespace rdmapulse
