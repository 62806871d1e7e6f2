// How a device's completions are found, timed and told.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "probes/verbs/completion_queue.h"
#include "probes/verbs/device.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using boost::asio::posix::stream_descriptor;
using probes::CompletionTime;

// The clocks part by some tens of microseconds a second, of which the fit knows all but a little.
constexpr Duration kReadClockEvery = 1s;

// A turn of the loop is a system call, dear beside a look at memory; whatever else is due waits so
// many looks, a few microseconds.
constexpr std::uint32_t kLooksATurn = 32;

}  // namespace

void Device::WatchCompletions() {
  completions_->async_wait(stream_descriptor::wait_read,
                           [this](const boost::system::error_code& error) {
                             if (!error) OnCompletions();
                           });
}

void Device::OnCompletions() {
  const TimePoint handled = Clock::now();
  std::vector<FoundCompletion> found;
  const Result<void> looked = FindCompletions(found);
  if (looked) WatchCompletions();
  DeliverAll(found, handled);
  // Without its queue a device answers no probe; its descriptor stays readable, so it must not be
  // watched again.
  if (!looked) Close(looked.error().Text());
}

Result<void> Device::FindCompletions(std::vector<FoundCompletion>& found) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(open_->channel.get(), &cq, &context) == 0) {
    ibv_ack_cq_events(cq, 1);  // destroying the CQ waits for these
    // Arm, then poll: what lands in between is either polled now or raises the next event.
    const int rc = ibv_req_notify_cq(cq, 0);
    if (rc != 0) return CheckVerb(rc, {"ibv_req_notify_cq on ", info_.name});
    for (const OpenPort& port : open_->ports) {
      if (port.queue.cq.get() != cq) continue;
      if (Result<void> polled = PollCq(port.queue, info_.name, found); !polled) return polled;
    }
  }
  if (errno == EAGAIN) return {};
  return Fail(errno, {"ibv_get_cq_event on ", info_.name});
}

bool Device::Awaits() const {
  return !posted_.empty() || !unanswered_.empty() || datagrams_.Waiting();
}

// The queue stays armed: its event comes all the same and finds less.
void Device::Poll() {
  if (state_ != State::kOpen || !Awaits()) return;
  std::vector<FoundCompletion> found;
  for (const OpenPort& port : open_->ports) {
    // A queue that cannot be read raises its event, which closes the device.
    if (!PollCq(port.queue, info_.name, found)) break;
  }
  if (!found.empty()) DeliverAll(found, Clock::now());
}

void Device::LookOn() {
  if (options_.looks == 0) return;
  looks_left_ = options_.looks;
  if (std::exchange(looking_, true)) return;
  ++jobs_;
  boost::asio::post(loop_, [this] { Look(); });
}

void Device::Look() {
  const auto goes_on = [this] {
    return looks_left_ > 0 && state_ == State::kOpen && !(posted_.empty() && unanswered_.empty());
  };
  for (std::uint32_t looks = 0; looks < kLooksATurn && goes_on(); ++looks) {
    --looks_left_;
    Poll();
  }
  if (goes_on()) {
    boost::asio::post(loop_, [this] { Look(); });
    return;
  }
  looking_ = false;
  --jobs_;
  FinishClose();
}

// The NIC's clock is read by the pool: a driver may ask its firmware for it.
void Device::WatchClock() {
  const bool stamped = std::any_of(open_->ports.begin(), open_->ports.end(),
                                   [](const OpenPort& port) { return port.queue.stamped; });
  if (!stamped) return;
  clock_timer_.expires_after(kReadClockEvery);
  clock_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || state_ != State::kOpen) return;
    RunJob([context = open_->context.get()] { return ReadNicClock(*context); },
           [this](const std::optional<NicClockReading>& reading) {
             if (state_ != State::kOpen) return;
             if (reading) open_->clock->Add(*reading);
             WatchClock();
           });
  });
}

CompletionTime Device::TimeOf(const FoundCompletion& found, TimePoint handled) const {
  if (!found.cycles || !open_->clock) return {.handled = handled};
  const std::optional<TimePoint> completed = open_->clock->HostTime(*found.cycles, handled);
  if (!completed) return {.handled = handled};
  return {.handled = handled, .waited = handled - *completed};
}

// The times first: a handler may let the device go, and its clock with it.
void Device::DeliverAll(const std::vector<FoundCompletion>& found, TimePoint handled) {
  std::vector<CompletionTime> times;
  times.reserve(found.size());
  for (const FoundCompletion& one : found) times.push_back(TimeOf(one, handled));
  for (std::size_t i = 0; i < found.size(); ++i) Deliver(found[i].wc, times[i]);
}

// The handler may close QPs, of which what was found with this one is then dropped, and the device.
void Device::Deliver(const ibv_wc& wc, const CompletionTime& time) {
  if (Datagrams::IsDatagram(wc.wr_id)) {
    datagrams_.Deliver(wc, time);
    return;
  }
  if (const auto received = receives_.extract(wc.wr_id); !received.empty()) {
    OnReceived(received.mapped(), wc, time);
    return;
  }
  if (const auto answered = answering_.extract(wc.wr_id); !answered.empty()) {
    if (wc.status == IBV_WC_SUCCESS) AwaitMessage(answered.mapped());
    return;
  }
  const auto posted = posted_.extract(wc.wr_id);
  if (posted.empty()) return;  // its QP was closed
  if (wc.status != IBV_WC_SUCCESS) unanswered_.erase(wc.wr_id);
  handlers_.completed({.probe = posted.mapped().probe,
                       .status = {.code = wc.status, .vendor_error = wc.vendor_err},
                       .time = time});
}

}  // namespace rdmapulse::verbs
