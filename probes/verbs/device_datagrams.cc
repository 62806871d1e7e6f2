// A device's UD QPs: made when it is opened and whenever a port changes, in the pool. Probing over
// RC goes on without one.
#include <iterator>
#include <utility>

#include "probes/op_support.h"
#include "probes/verbs/device.h"

namespace rdmapulse::verbs {

Datagrams::Handlers Device::DatagramHandlers() {
  return {.completed =
              [this](const probes::Completion& completion) { handlers_.completed(completion); },
          .echoed = [this](const probes::EchoReply& reply) { handlers_.echoed(reply); },
          .journal = [this](const std::string& line) { handlers_.journal(line); },
          .retire = [this](RetiredDatagrams retired) { RetireDatagrams(std::move(retired)); }};
}

// Of every port that may have one, whether it has one that works.
std::vector<Device::UdWanted> Device::WantedUds() {
  std::vector<UdWanted> wanted;
  if (!options_.datagrams) return wanted;
  for (const PortInfo& port : info_.ports) {
    if (port.protocol == Protocol::kIwarp) continue;
    const bool lacking =
        !datagrams_.Has(port.port) || datagrams_.IsBroken(port.port) || dirty_.contains(port.port);
    wanted.push_back({port.port, lacking, datagrams_.ReserveReceives()});
  }
  return wanted;
}

void Device::TakeUds(UdQps&& uds) {
  for (auto& [port, made] : uds) {
    if (made && state_ == State::kOpen && options_.datagrams) {
      RetireDatagrams(datagrams_.RemovePort(port));
      datagrams_.AddPort(port, std::move(*made));
      no_ud_.erase(port);
    } else if (made) {
      RetiredDatagrams retired;
      retired.qps.push_back(std::move(*made));
      RetireDatagrams(std::move(retired));
    } else if (std::string& told = no_ud_[port]; told != made.error().Text()) {
      told = made.error().Text();
      handlers_.journal("port " + PortId{info_.name, port}.Text() + ": no ud probes: " + told);
    }
  }
}

void Device::SetDatagrams(bool on) {
  if (on == options_.datagrams) return;
  options_.datagrams = on;
  if (!on) RetireDatagrams(datagrams_.Clear());
  for (const PortFacts& port : facts_) MarkDirty(port.port, "ud was switched on or off");
}

Result<Device::Linked> Device::ConnectRc(const RtsRequest& request, bool datagrams,
                                         bool heeds_flow_label) {
  if (Result<void> moved = MoveToRts(request); !moved) return tl::unexpected(moved.error());
  return datagrams ? MakeWays(request, AddressOf(request), heeds_flow_label) : Linked{};
}

Device::Linked Device::MakeWays(const RtsRequest& request, const ibv_ah_attr& address,
                                bool heeds_flow_label) {
  Linked linked;
  if (Result<std::vector<Ah>> ways = CreateWays(request, address, heeds_flow_label)) {
    linked.ways = std::move(*ways);
  } else {
    linked.no_ways = ways.error().Text();
  }
  return linked;
}

void Device::LinkDatagrams(probes::QpId id, const QpEntry& entry, Linked linked) {
  const std::string port = entry.here.port.Text();
  if (!linked.no_ways.empty()) {
    handlers_.journal("port " + port + ": no ud probes to " + entry.there.gid.Text() + ": " +
                      linked.no_ways);
  }
  if (linked.ways.empty()) return;
  if (!datagrams_.Serves(entry.here)) {
    RetireDatagrams({.ways = std::move(linked.ways), .qps = {}});
    return;
  }
  const bool told = HeedsFlowLabelOfAh(info_.driver) && entry.here.protocol == Protocol::kRoceV2;
  std::vector<std::uint16_t> sports(linked.ways.size());
  for (std::uint32_t way = 0; told && way < sports.size(); ++way) {
    sports[way] = probes::UdpSourcePort(probes::FlowLabelOfWay(entry.attributes.flow_label, way));
  }
  datagrams_.Connect(id, entry.here, entry.there, std::move(linked.ways), std::move(sports));
}

Result<std::uint16_t> Device::PostDatagram(probes::QpId id, std::uint32_t way,
                                           std::uint64_t probe) {
  const auto found = qps_.find(id);
  if (found == qps_.end() || found->second.doomed) {
    return Fail({"the QP is gone: its port changed"});
  }
  const QpEntry& entry = found->second;
  if (IsMoving(entry)) return Fail({"the QP is being connected"});
  if (const std::string why = probes::WhyNot(probes::Op::kUd, entry.here, entry.there);
      !why.empty()) {
    return Fail({why});
  }
  return datagrams_.Ask(id, way, probe);
}

// As a QP is retired: see Retire.
void Device::RetireDatagrams(RetiredDatagrams datagrams) {
  if (datagrams.ways.empty() && datagrams.qps.empty()) return;
  if (state_ != State::kOpen) {
    RetiredDatagrams& last = open_->datagrams;
    std::move(datagrams.ways.begin(), datagrams.ways.end(), std::back_inserter(last.ways));
    std::move(datagrams.qps.begin(), datagrams.qps.end(), std::back_inserter(last.qps));
    return;
  }
  RunJob(
      [datagrams = std::move(datagrams)]() mutable {
        const RetiredDatagrams last = std::move(datagrams);
        return true;
      },
      [](bool) {});
}

}  // namespace rdmapulse::verbs
