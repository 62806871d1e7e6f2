// A device's QPs: made and connected in the pool, used on the loop, destroyed in the pool.
#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "probes/op_support.h"
#include "probes/verbs/device.h"
#include "probes/verbs/random_token.h"
#include "probes/verbs/rc_qp.h"

namespace rdmapulse::verbs {
namespace {

std::uint32_t RandomPsn() {
  static std::minstd_rand random(std::random_device{}());
  return static_cast<std::uint32_t>(random()) & 0xFFFFFFU;
}

// Where the QP can be dialled. An InfiniBand port's GID is none of its addresses.
void DescribeListener(const PortFacts& facts, probes::QpEndpoint& here) {
  const bool infiniband = here.protocol == Protocol::kInfiniband;
  for (const CmListener& listener : facts.listeners) {
    if (!infiniband && listener.here.ip != here.gid) continue;
    here.tcp_port = listener.here.port;
    here.cm_token = RandomToken();
    if (infiniband) here.cm_address = listener.here.ip;
    return;
  }
}

}  // namespace

void Device::OpenQp(probes::QpId id, const PortId& port, const Gid& towards,
                    const probes::QpAttributes& attributes, probes::Transport::Opened opened) {
  const PortFacts* const facts = state_ == State::kOpen ? FactsOf(port.port) : nullptr;
  const OpenPort* const place = facts != nullptr ? PortOf(port.port) : nullptr;
  if (place == nullptr) {
    opened(Fail({port.Text(), " is not open"}));
    return;
  }
  const probes::GidChoice choice =
      probes::ChooseGidTowards(facts->gids, facts->link_layer, options_.family, towards);
  if (!choice.entry || choice.entry->index > 0xFF) {
    opened(Fail({"no usable GID on ", port.Text(), ": ",
                 choice.entry ? "its index is over 255, which no QP can name" : choice.reason}));
    return;
  }
  if (QpsOn(port.port) >= place->qps_max) {
    opened(Fail({"the completion queue of ", port.Text(), " has no room for one more QP"},
                "restart rdmapulsed after raising budget.qps_per_nic"));
    return;
  }
  QpEntry& entry = qps_[id];
  entry.gid = *choice.entry;
  entry.attributes = attributes;
  ++entry.jobs;
  const auto discovered =
      std::find_if(info_.ports.begin(), info_.ports.end(),
                   [&port](const PortInfo& candidate) { return candidate.port == port.port; });
  entry.here = {.port = port,
                .protocol = discovered->protocol,
                .gid = choice.entry->gid,
                .lid = facts->lid,
                .psn = RandomPsn(),
                .mtu_bytes = facts->mtu_bytes,
                .buffer_address = reinterpret_cast<std::uintptr_t>(place->buffer.get()),
                .buffer_rkey = place->mr->rkey,
                .buffer_bytes = kBufferBytes,
                .atomics = open_->atomics,
                .echo_receives = 0,
                .tcp_port = 0,
                .cm_token = 0,
                .cm_address = {},
                .ud_qpn = 0,
                .ud_qkey = 0,
                .ud_token = 0};
  DescribeListener(*facts, entry.here);
  if (entry.here.protocol == Protocol::kIwarp) {
    entry.link.used = true;
  } else {
    entry.here.echo_receives = probes::kEchoReceives;
    entry.first_receive = last_wr_id_ + 1;
    last_wr_id_ += probes::kEchoReceives;
  }
  RunJob([place = QpPlace{.pd = open_->pd.get(),
                          .cq = place->queue.cq.get(),
                          .port = port.port,
                          .atomics = open_->atomics,
                          .first_receive = entry.first_receive}] { return CreateInit(place); },
         [this, id, opened = std::move(opened)](Result<RcQp> qp) {
           AfterCreate(id, opened, std::move(qp));
         });
}

void Device::AfterCreate(probes::QpId id, const probes::Transport::Opened& opened,
                         Result<RcQp> qp) {
  const auto found = qps_.find(id);
  QpEntry& entry = found->second;
  --entry.jobs;
  if (!qp || entry.doomed) {
    if (qp) {
      entry.qp = std::move(*qp);
      Retire(std::move(entry));
    }
    qps_.erase(found);
    if (qp) {
      opened(Fail({"the port changed while a QP was made"}));
    } else {
      opened(tl::unexpected(qp.error()));
    }
    return;
  }
  entry.qp = std::move(*qp);
  entry.here.qpn = entry.qp.qp->qp_num;
  if (entry.attributes.ud_source_ports > 0) datagrams_.Describe(entry.here);
  for (std::size_t slot = 0; slot < entry.here.echo_receives; ++slot) {
    receives_.emplace(entry.first_receive + slot, Receive{id, slot});
  }
  opened(std::pair(id, entry.here));
}

void Device::ConnectQp(probes::QpId id, const probes::QpEndpoint& remote,
                       probes::Transport::Connected connected) {
  const auto found = qps_.find(id);
  if (found == qps_.end() || found->second.doomed ||
      (found->second.jobs > 0 && found->second.here.cm_token == 0)) {
    connected(Fail({"the QP is gone: its port changed"}));
    return;
  }
  QpEntry& entry = found->second;
  entry.there = remote;
  if (IsByCm(entry)) {
    ConnectByCm(id, entry, std::move(connected));
    return;
  }
  ++entry.jobs;
  const bool datagrams = entry.here.ud_qpn != 0 && remote.ud_qpn != 0;
  RunJob(
      [request = RequestOf(entry), datagrams, heeds = HeedsFlowLabelOfAh(info_.driver)] {
        return ConnectRc(request, datagrams, heeds);
      },
      [this, id, connected = std::move(connected)](Result<Linked> linked) {
        AfterConnect(id, connected, std::move(linked));
      });
}

void Device::AfterConnect(probes::QpId id, const probes::Transport::Connected& connected,
                          Result<Linked> linked) {
  const auto found = qps_.find(id);
  QpEntry& entry = found->second;
  --entry.jobs;
  if (entry.doomed) {
    RetiredDatagrams ways;
    if (linked) ways.ways = std::move(linked->ways);
    Retire(std::move(entry), std::move(ways));
    qps_.erase(found);
    connected(Fail({"the QP is gone: its port changed"}));
    return;
  }
  if (!linked) {
    connected(tl::unexpected(linked.error()));
    return;
  }
  LinkDatagrams(id, entry, std::move(*linked));
  connected({});
}

Result<void> Device::Post(probes::QpId id, probes::Op op, std::uint64_t probe) {
  const auto found = qps_.find(id);
  if (found == qps_.end() || found->second.doomed) {
    return Fail({"the QP is gone: its port changed"});
  }
  QpEntry& entry = found->second;
  if (entry.link.used) {
    if (Result<void> linked = CheckLink(entry); !linked) return linked;
  } else if (entry.jobs > 0) {
    return Fail({"the QP is being connected"});
  }
  if (const std::string why = probes::WhyNot(op, entry.here, entry.there); !why.empty()) {
    return Fail({why});
  }
  const std::uint64_t wr_id = ++last_wr_id_;
  Result<void> posted = op == probes::Op::kEcho
                            ? PostEcho(entry, wr_id)
                            : PostProbe({.qp = entry.qp.qp.get(),
                                         .mr = PortOf(entry.here.port.port)->mr.get(),
                                         .op = op,
                                         .bytes = probes::PayloadBytes(op, entry.here, entry.there),
                                         .remote_address = entry.there.buffer_address,
                                         .remote_rkey = entry.there.buffer_rkey,
                                         .wr_id = wr_id});
  if (!posted) return posted;
  posted_.emplace(wr_id, Posted{id, probe});
  if (op == probes::Op::kEcho) unanswered_.emplace(wr_id, Posted{id, probe});
  LookOn();
  return posted;
}

// Whatever of it completes from now on is nobody's.
void Device::Forget(probes::QpId id) {
  const auto of_it = [id](const auto& work) { return work.second.qp == id; };
  std::erase_if(posted_, of_it);
  std::erase_if(unanswered_, of_it);
  std::erase_if(receives_, of_it);
  std::erase_if(answering_, of_it);
}

void Device::CloseQp(probes::QpId id) {
  const auto found = qps_.find(id);
  if (found == qps_.end()) return;
  Forget(id);
  RetiredDatagrams datagrams = datagrams_.Disconnect(id);
  QpEntry& entry = found->second;
  entry.link.deadline.reset();
  if (entry.link.connected) AnswerLater(std::exchange(entry.link.connected, nullptr));
  if (entry.jobs > 0) {
    entry.doomed = true;
    RetireDatagrams(std::move(datagrams));
    return;
  }
  Retire(std::move(entry), std::move(datagrams));
  qps_.erase(found);
}

// A destroy waits for the driver, some milliseconds on a NIC: not on the loop. First the
// connection manager's connection: over iWARP the kernel complains about a QP that goes from under
// one.
void Device::Retire(QpEntry entry, RetiredDatagrams datagrams) {
  std::move(entry.link.linked.ways.begin(), entry.link.linked.ways.end(),
            std::back_inserter(datagrams.ways));
  if (state_ != State::kOpen) {
    open_->qps.push_back(std::move(entry.qp));
    RetireDatagrams(std::move(datagrams));
    return;
  }
  RunJob(
      [qp = std::move(entry.qp), datagrams = std::move(datagrams), cm = ConnectionManager(),
       id = entry.link.cm_id]() mutable {
        if (id) cm.Destroy(*id);
        const RcQp last = std::move(qp);
        const RetiredDatagrams ways = std::move(datagrams);
        return true;
      },
      [](bool) {});
}

void Device::DropQps(std::uint32_t port) {
  std::vector<probes::QpId> ids;
  for (const auto& [id, entry] : qps_) {
    if (entry.here.port.port == port) ids.push_back(id);
  }
  for (const probes::QpId id : ids) CloseQp(id);
}

std::uint32_t Device::QpsOn(std::uint32_t port) const {
  return static_cast<std::uint32_t>(std::count_if(qps_.begin(), qps_.end(), [port](const auto& qp) {
    return qp.second.here.port.port == port;
  }));
}

}  // namespace rdmapulse::verbs
