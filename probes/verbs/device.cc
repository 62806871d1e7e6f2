#include "probes/verbs/device.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "probes/verbs/cm_ports.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using boost::asio::posix::stream_descriptor;

constexpr Duration kReopenAfter = 10s;
constexpr Duration kSettle = 100ms;   // an address that is replaced sends two to four events
constexpr Duration kLookEvery = 10s;  // an MTU that changes sends no event on rxe

std::string_view EventText(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_GID_CHANGE: return "its GID table changed";
    case IBV_EVENT_PORT_ACTIVE: return "the port came up";
    case IBV_EVENT_PORT_ERR: return "the port went down";
    case IBV_EVENT_LID_CHANGE: return "its LID changed";
    case IBV_EVENT_PKEY_CHANGE: return "its P_Key table changed";
    default: return {};
  }
}

bool SameFacts(const std::vector<PortFacts>& before, const std::vector<PortFacts>& now,
               std::uint32_t port) {
  const auto is_it = [port](const PortFacts& facts) { return facts.port == port; };
  const auto was = std::find_if(before.begin(), before.end(), is_it);
  const auto is = std::find_if(now.begin(), now.end(), is_it);
  return was != before.end() && is != now.end() && *was == *is;
}

}  // namespace

Device::Device(boost::asio::io_context& loop, BlockingPool& pool, DeviceInfo info,
               DeviceOptions options, Handlers handlers)
    : loop_(loop),
      pool_(pool),
      info_(std::move(info)),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      datagrams_(info_.name, DatagramHandlers()),
      clock_timer_(loop),
      settle_(loop) {}

void Device::Open(TimePoint now) {
  if (state_ != State::kClosed || now < retry_at_) return;
  state_ = State::kOpening;
  RunJob(
      [info = info_, options = options_, wanted = WantedUds()]() -> Result<Made> {
        auto opened = OpenForProbing(info, options.dev_root, options.qps_max, *options.cm_host,
                                     options.by_cm);
        if (!opened) return tl::unexpected(opened.error());
        Made made{.device = std::move(*opened), .uds = {}};
        for (const UdWanted& ud : wanted) {
          made.uds.emplace(ud.port, MakeUd(made.device.device, info, ud.port, ud.first_receive));
        }
        return made;
      },
      [this](Result<Made> made) { AfterOpen(std::move(made)); });
}

void Device::AfterOpen(Result<Made> made) {
  if (!made) {
    const std::string problem = made.error().Text();
    if (problem != problem_) handlers_.journal("device " + info_.name + ": " + problem);
    problem_ = problem;
    retry_at_ = Clock::now() + kReopenAfter;
    state_ = State::kClosed;
    for (const PortInfo& port : info_.ports) {
      handlers_.port_changed({info_.name, port.port}, problem_);
    }
    return;
  }
  open_ = std::move(made->device.device);
  facts_ = std::move(made->device.facts);
  refreshed_ = Clock::now();
  if (state_ == State::kOpening) state_ = State::kOpen;
  TakeUds(std::move(made->uds));
  if (state_ == State::kClosing) return;  // FinishClose follows
  problem_.clear();
  completions_.emplace(loop_, open_->channel->fd);
  events_.emplace(loop_, open_->context->async_fd);
  if (open_->cm) cm_events_.emplace(loop_, open_->cm.get());
  WatchCompletions();
  WatchClock();
  WatchEvents();
  WatchCm();
  handlers_.journal("device " + info_.name + ": open");
  for (const PortFacts& port : facts_) handlers_.port_changed({info_.name, port.port}, "opened");
}

void Device::Close(const std::string& why) {
  if (state_ == State::kClosed || state_ == State::kClosing) return;
  const bool opening = state_ == State::kOpening;
  state_ = State::kClosing;
  problem_ = why;
  settle_.cancel();
  clock_timer_.cancel();
  if (completions_) completions_->release();
  if (events_) events_->release();
  if (cm_events_) cm_events_->release();
  completions_.reset();
  events_.reset();
  cm_events_.reset();
  if (!opening) handlers_.journal("device " + info_.name + ": closing: " + why);
  for (const PortInfo& port : info_.ports) {
    DropQps(port.port);
    handlers_.port_changed({info_.name, port.port}, why);
  }
  FinishClose();
}

// The kernel is given everything back once nothing in the pool uses it any more.
void Device::FinishClose() {
  if (state_ != State::kClosing || jobs_ > 0) return;
  if (!open_) {
    state_ = State::kClosed;
    return;
  }
  // Whatever is left came home doomed and is destroyed with the device.
  for (auto& [id, entry] : qps_) Retire(std::move(entry));
  qps_.clear();
  RetireDatagrams(datagrams_.Clear());
  no_ud_.clear();
  facts_.clear();
  dirty_.clear();
  auto last = std::make_unique<OpenDevice>(std::move(*open_));
  open_.reset();
  RunJob(
      [last = std::move(last)]() mutable {
        last.reset();
        return true;
      },
      [this](bool) { handlers_.journal("device " + info_.name + ": closed"); });
}

void Device::Update(const DeviceInfo& info, TimePoint now) {
  const bool changed = info != info_;
  info_ = info;
  if (state_ != State::kOpen) return;
  // Against what is open: discovery may have learnt of a port while the others were opened.
  if (info.ports.size() != open_->ports.size()) {
    Close("its ports changed");
  } else if (changed || now - refreshed_ >= kLookEvery) {
    Refresh();
  }
}

void Device::SetFamily(probes::GidFamily family) {
  if (family == options_.family) return;
  options_.family = family;
  for (const PortFacts& port : facts_) MarkDirty(port.port, "gid.family changed");
}

void Device::WatchEvents() {
  events_->async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) OnEvents();
  });
}

void Device::OnEvents() {
  ibv_async_event event{};
  while (events_ && ibv_get_async_event(open_->context.get(), &event) == 0) {
    OnEvent(event);
    ibv_ack_async_event(&event);
  }
  if (!events_) return;
  if (errno == EAGAIN) {
    WatchEvents();
  } else {  // it vanished without a word, and the descriptor stays readable for ever
    Close(Fail(errno, {"ibv_get_async_event on ", info_.name}).value().Text());
  }
}

void Device::OnEvent(const ibv_async_event& event) {
  if (const std::string_view what = EventText(event.event_type); !what.empty()) {
    MarkDirty(static_cast<std::uint32_t>(event.element.port_num), std::string(what));
    return;
  }
  const std::string name = ibv_event_type_str(event.event_type);
  handlers_.journal("device " + info_.name + ": event: " + name);
  if (event.event_type == IBV_EVENT_DEVICE_FATAL || event.event_type == IBV_EVENT_CQ_ERR) {
    // After it the event must still be acknowledged, so the device closes in its own turn.
    boost::asio::post(loop_, [this, name] { Close(name); });
  }
}

void Device::MarkDirty(std::uint32_t port, const std::string& why) {
  handlers_.journal("port " + PortId{info_.name, port}.Text() + ": " + why);
  dirty_[port] = why;
  settle_.expires_after(kSettle);
  settle_.async_wait([this](const boost::system::error_code& error) {
    if (!error && state_ == State::kOpen) Refresh();
  });
}

void Device::Refresh() {
  if (refreshing_) {
    refresh_again_ = true;
    return;
  }
  refreshing_ = true;
  // A port with an event listens anew: its listeners may have gone with its link.
  std::vector<CmListener> kept;
  std::vector<CmListener> stale;
  for (const PortFacts& port : facts_) {
    auto& list = dirty_.contains(port.port) ? stale : kept;
    list.insert(list.end(), port.listeners.begin(), port.listeners.end());
  }
  RunJob(
      [device = &*open_, host = options_.cm_host, by_cm = options_.by_cm, info = info_,
       kept = std::move(kept), stale = std::move(stale), before = facts_,
       wanted = WantedUds()]() mutable {
        Read read{.facts = QueryPorts(*device->context, info), .uds = {}};
        if (const int cm = device->cm.get(); cm >= 0) {
          for (const CmListener& listener : stale) Cm(*host, cm).Destroy(listener.id);
          ListenOnPorts(*host, cm, info, by_cm, std::move(kept), read.facts);
        }
        for (const UdWanted& ud : wanted) {
          // A QP that was there when its port changed may be dead (soft-roce.md D).
          if (!ud.lacking && SameFacts(before, read.facts, ud.port)) continue;
          read.uds.emplace(ud.port, MakeUd(*device, info, ud.port, ud.first_receive));
        }
        return read;
      },
      [this](Read read) { AfterRefresh(std::move(read)); });
}

void Device::AfterRefresh(Read read) {
  refreshing_ = false;
  const bool again = std::exchange(refresh_again_, false);
  if (state_ != State::kOpen) {
    TakeUds(std::move(read.uds));
    return;
  }
  std::vector<PortFacts> facts = std::move(read.facts);
  refreshed_ = Clock::now();
  std::map<std::uint32_t, std::string> changed = std::exchange(dirty_, {});
  for (const PortFacts& port : facts) {
    const PortFacts* const before = FactsOf(port.port);
    if (before == nullptr || *before != port) changed.try_emplace(port.port, "its facts changed");
  }
  facts_ = std::move(facts);
  // A QP holds its GID's entry: after any event on the port it may be dead although the same GID is
  // there again (soft-roce.md D, E, question 9).
  for (const auto& [port, why] : changed) DropQps(port);
  TakeUds(std::move(read.uds));
  for (const auto& [port, why] : changed) handlers_.port_changed({info_.name, port}, why);
  if (again && state_ == State::kOpen) Refresh();
}

std::vector<probes::TransportPort> Device::Ports() const {
  std::vector<probes::TransportPort> ports;
  for (const PortInfo& discovered : info_.ports) {
    probes::TransportPort port;
    port.id = {info_.name, discovered.port};
    port.protocol = discovered.protocol;
    port.reason = problem_.empty() ? "the device is being opened" : problem_;
    port.qps = QpsOn(discovered.port);
    const OpenPort* const open = PortOf(discovered.port);
    port.nic_clock = open != nullptr && open->queue.stamped;
    const PortFacts* const facts = state_ == State::kOpen ? FactsOf(discovered.port) : nullptr;
    if (facts != nullptr) {
      const probes::GidChoice choice =
          probes::ChooseGid(facts->gids, facts->link_layer, options_.family);
      port.reason = choice.reason;
      port.mtu_bytes = facts->mtu_bytes;
      if (choice.entry) {
        port.gid = choice.entry->gid;
        port.gid_index = choice.entry->index;
      }
      if (!facts->listeners.empty() && port.protocol != Protocol::kIwarp) {
        port.reason += "; connected by rdma_cm";
      }
      if (!facts->problem.empty()) {
        port.reason = facts->problem;
      } else if (!facts->active) {
        port.reason = "the port is down";
      } else {
        port.usable = choice.entry.has_value();
      }
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

const PortFacts* Device::FactsOf(std::uint32_t port) const {
  const auto found = std::find_if(facts_.begin(), facts_.end(),
                                  [port](const PortFacts& facts) { return facts.port == port; });
  return found == facts_.end() ? nullptr : &*found;
}

const OpenPort* Device::PortOf(std::uint32_t port) const {
  if (!open_) return nullptr;
  const auto found = std::find_if(open_->ports.begin(), open_->ports.end(),
                                  [port](const OpenPort& open) { return open.port == port; });
  return found == open_->ports.end() ? nullptr : &*found;
}

}  // namespace rdmapulse::verbs
