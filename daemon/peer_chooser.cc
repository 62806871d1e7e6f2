#include "daemon/peer_chooser.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "daemon/discovery/own_addresses.h"
#include "probes/selection.h"

namespace rdmapulse {
namespace {

using std::chrono::seconds;

// A wall clock that is set shows by then, and so does an address that came later than we did.
constexpr seconds kAskAgain{60};

seconds UnixTime() {
  return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch());
}

bool Same(const PeerChoice& a, const PeerChoice& b) {
  return a.probed == b.probed && a.counts == b.counts && *a.guests == *b.guests;
}

}  // namespace

PeerChooser::PeerChooser(boost::asio::io_context& loop, std::function<void()> changed)
    : loop_(loop), changed_(std::move(changed)), timer_(loop) {}

void PeerChooser::Configure(const config::Config& config, const std::string& host,
                            std::uint16_t control_port) {
  config_ = config;
  self_ = {.name = host, .addresses = {}, .port = control_port};
  const config::Discovery& sources = config.discovery;
  const bool any = !sources.file.empty() || !sources.http.empty() || !sources.dns.empty();
  if (any && discovery_ == nullptr) {
    discovery_ = std::make_unique<discovery::Discovery>(
        loop_, discovery::Discovery::Options{}, [this] { Ask(); },
        [](const discovery::SourceState::News& news) {
          spdlog::log(news.trouble ? spdlog::level::warn : spdlog::level::info, "{}", news.text);
        });
  }
  if (discovery_ != nullptr) discovery_->Configure(sources);
  ask_again_ = asking_;  // what is under way is about the old configuration
  if (!any) lists_.clear();
  // Few, and there is nothing to wait for.
  if (lists_.empty()) static_cast<void>(Take(ChoosePeers(Question())));
  if (any) Ask();
}

void PeerChooser::SetDevices(const std::vector<DeviceInfo>& devices) {
  std::size_t most = 1;
  std::size_t all = 0;
  for (const DeviceInfo& device : devices) {
    most = std::max(most, device.ports.size());
    all += device.ports.size();
  }
  all = std::max<std::size_t>(all, 1);
  if (most == ports_per_nic_ && all == ports_) return;
  ports_per_nic_ = most;
  ports_ = all;
  Ask();
}

void PeerChooser::Stop() {
  timer_.cancel();
  if (discovery_ != nullptr) discovery_->Stop();
  ask_again_ = false;
  changed_ = nullptr;
}

std::vector<discovery::SourceStatus> PeerChooser::Sources(TimePoint now) const {
  return discovery_ == nullptr ? std::vector<discovery::SourceStatus>{} : discovery_->Status(now);
}

PeerQuestion PeerChooser::Question() const {
  return {.configured = config_.peers,
          .lists = lists_,
          .self = self_,
          .labels = config_.host.labels,
          .selection = config_.selection,
          .peers_max = PeersAffordable(config_, ports_per_nic_, ports_),
          .unix_time = UnixTime()};
}

// Everything goes out as a value; what changes meanwhile is asked for once more.
void PeerChooser::Ask() {
  if (discovery_ == nullptr || !changed_) return;
  if (discovery_->Settled()) lists_ = discovery_->Lists();
  if (lists_.empty() && !discovery_->Settled()) return;
  if (std::exchange(asking_, true)) {
    ask_again_ = true;
    return;
  }
  ask_again_ = false;
  pool_.Run(
      [question = Question(), listen = config_.control.listen]() mutable {
        question.self.addresses = discovery::OwnAddresses(listen);
        return ChoosePeers(question);
      },
      [this](PeerChoice choice) { AfterChoice(std::move(choice)); });
}

void PeerChooser::AfterChoice(PeerChoice choice) {
  asking_ = false;
  if (!changed_) return;
  if (std::exchange(ask_again_, false)) return Ask();
  Arm();
  if (Take(std::move(choice))) changed_();
}

void PeerChooser::Arm() {
  const seconds redraw = std::chrono::duration_cast<seconds>(config_.selection.redraw);
  const seconds until = probes::UntilRedraw({.redraw = redraw}, UnixTime());
  timer_.expires_after(std::min(until, kAskAgain));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) Ask();
  });
}

// True: it is another one.
bool PeerChooser::Take(PeerChoice choice) {
  if (choice.problems != said_) {
    said_ = choice.problems;
    for (const std::string& problem : said_) spdlog::warn("peers: {}", problem);
  }
  if (Same(choice, choice_)) return false;
  if (choice.counts != choice_.counts && choice.counts.known > choice.counts.configured) {
    spdlog::info("peers: {} known; probing {} configured, {} of this ToR, {} of the sample{}",
                 choice.counts.known, choice.counts.configured, choice.counts.mesh,
                 choice.counts.sample,
                 choice.is_listed ? "" : "; no list has this host, which goes by host.labels");
  }
  choice_ = std::move(choice);
  return true;
}

}  // namespace rdmapulse
