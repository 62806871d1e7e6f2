// Echoes of a device's QPs: messages that the peer's daemon answers, and ours to its. A QP's
// receives are posted when it is made; one that was used is posted again at once, or, when the
// message asked, once the answer, which lies in the same slot, has arrived. So there are always as
// many as the endpoint said, less those whose answers are on their way.
#include <algorithm>
#include <utility>

#include "probes/echo_message.h"
#include "probes/verbs/device.h"
#include "probes/verbs/rc_qp.h"

namespace rdmapulse::verbs {
namespace {

using probes::EchoMessage;

void Write(const EchoMessage& message, std::span<std::uint8_t> slot) {
  const auto bytes = probes::Encode(message);
  std::copy(bytes.begin(), bytes.end(), slot.begin());
}

}  // namespace

Result<void> Device::PostEcho(const QpEntry& entry, std::uint64_t wr_id) {
  Write({.kind = EchoMessage::Kind::kAsks, .number = wr_id, .responder = Duration::zero()},
        SlotOf(entry.qp, kAskingSlot));
  return PostMessage(entry.qp, kAskingSlot, wr_id);
}

void Device::OnReceived(const Receive& receive, const ibv_wc& wc,
                        const probes::CompletionTime& time) {
  const auto found = qps_.find(receive.qp);
  if (wc.status != IBV_WC_SUCCESS || found == qps_.end()) return;
  QpEntry& entry = found->second;
  // Nobody has a reason to send before both ends have said that they are ready.
  if (entry.doomed || IsMoving(entry)) return;
  const std::span<std::uint8_t> slot = SlotOf(entry.qp, receive.slot);
  const Result<EchoMessage> message =
      probes::DecodeEcho(slot.first(std::min<std::size_t>(wc.byte_len, slot.size())));
  if (message && message->kind == EchoMessage::Kind::kAsks) {
    Answer(receive, entry, message->number, time);
    return;
  }
  AwaitMessage(receive);
  if (message) {
    OnAnswer(receive.qp, *message, time);
  } else if (!std::exchange(entry.told_of_garbage, true)) {
    handlers_.journal("port " + entry.here.port.Text() + ": a message from " +
                      entry.there.gid.Text() + " is no echo: " + message.error().Text());
  }
}

void Device::Answer(const Receive& receive, const QpEntry& entry, std::uint64_t number,
                    const probes::CompletionTime& time) {
  const std::uint64_t wr_id = ++last_wr_id_;
  Write({.kind = EchoMessage::Kind::kAnswers,
         .number = number,
         .responder = Clock::now() - time.Completed()},
        SlotOf(entry.qp, receive.slot));
  // A QP that takes no more work is dead, and its receives with it.
  if (PostMessage(entry.qp, receive.slot, wr_id)) answering_.emplace(wr_id, receive);
}

// The handler may close QPs and the device: nothing is touched after it.
void Device::OnAnswer(probes::QpId id, const EchoMessage& message,
                      const probes::CompletionTime& time) {
  const auto asked = unanswered_.find(message.number);
  // A peer can only answer what it was asked over the same QP, and once.
  if (asked == unanswered_.end() || asked->second.qp != id) return;
  const std::uint64_t probe = asked->second.probe;
  unanswered_.erase(asked);
  handlers_.echoed({.probe = probe, .responder = message.responder, .time = time});
}

void Device::AwaitMessage(const Receive& receive) {
  const auto found = qps_.find(receive.qp);
  if (found == qps_.end() || found->second.doomed || IsMoving(found->second)) return;
  const std::uint64_t wr_id = ++last_wr_id_;
  if (PostReceive(found->second.qp, receive.slot, wr_id)) receives_.emplace(wr_id, receive);
}

}  // namespace rdmapulse::verbs
