// What the connection manager says of a device's QPs, one event after the other; see device_cm.cc.
#include <optional>
#include <utility>

#include "probes/verbs/cm_ports.h"
#include "probes/verbs/cm_wording.h"
#include "probes/verbs/device.h"

namespace rdmapulse::verbs {
namespace {

using boost::asio::posix::stream_descriptor;

constexpr std::uint32_t kRouteMs = 2000;  // the subnet manager's answer; elsewhere it is at once
// Refusing is quick; whoever dials more than that at once waits in the kernel, 64 of them.
constexpr int kRefusingMax = 16;

}  // namespace

void Device::SetByCm(bool on) {
  if (on == options_.by_cm) return;
  options_.by_cm = on;
  retry_at_ = {};  // what kept it from opening may have been this
  if (HasSelectablePorts(info_)) Close("paths.connect changed");
}

void Device::WatchCm() {
  if (!cm_events_) return;
  cm_events_->async_wait(stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (!error) OnCmEvents();
                         });
}

void Device::OnCmEvents() {
  while (cm_events_) {
    if (refusing_ >= kRefusingMax) {
      cm_paused_ = true;
      return;
    }
    const Result<std::optional<CmEvent>> event = ConnectionManager().NextEvent();
    if (!event) {
      Close(event.error().Text());
      return;
    }
    if (!*event) break;
    OnCmEvent(**event);
  }
  WatchCm();
}

void Device::OnCmEvent(const CmEvent& event) {
  if (event.type == CmEventType::kConnectRequest) {
    OnDialled(event);
    return;
  }
  if (event.type == CmEventType::kDeviceRemoval) {
    Close("the device is being removed");
    return;
  }
  const auto found = qps_.find(event.owner);
  if (found == qps_.end() || found->second.doomed) return;
  QpEntry& entry = found->second;
  switch (event.type) {
    case CmEventType::kAddressResolved:
      RunLinkJob(event.owner, [cm = ConnectionManager(), id = event.id]() -> Result<LinkStep> {
        if (auto begun = cm.ResolveRoute(id, kRouteMs); !begun)
          return tl::unexpected(begun.error());
        return LinkStep{.cm_id = id};
      });
      break;
    case CmEventType::kRouteResolved: FinishDialling(event.owner, entry, event.id); break;
    case CmEventType::kConnectResponse: MoveAndConfirm(event.owner, entry, event.id); break;
    case CmEventType::kEstablished: LinkIsUp(entry); break;
    default:
      if (const auto failure =
              FailureOf(event, entry.here, entry.there, entry.link.state == CmLink::State::kUp)) {
        BreakLink(event.owner, entry, *failure);
      }
  }
}

void Device::Refuse(std::uint32_t cm_id) {
  ++refusing_;
  RunJob(
      [cm = ConnectionManager(), cm_id] {
        cm.Reject(cm_id);
        cm.Destroy(cm_id);
        return true;
      },
      [this](bool) {
        --refusing_;
        if (std::exchange(cm_paused_, false)) OnCmEvents();
      });
}

}  // namespace rdmapulse::verbs
