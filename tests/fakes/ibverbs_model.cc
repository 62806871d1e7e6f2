#include "tests/fakes/ibverbs_model.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rdmapulse::fakes {
namespace {

constexpr std::uint32_t kPsnMax = 0xFFFFFF;
constexpr std::uint32_t kFlowLabelMax = 0xFFFFF;

// What ibv_modify_qp(3) asks of an RC QP on its way up.
struct Transition {
  ibv_qp_state from, to;
  int required;
  int optional;
};
constexpr Transition kTransitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
         IBV_QP_PATH_MIG_STATE}};

bool MaskFits(ibv_qp_state from, ibv_qp_state to, int mask) {
  if ((mask & IBV_QP_STATE) == 0) return false;
  const int rest = mask & ~IBV_QP_STATE;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return rest == 0;
  for (const Transition& step : kTransitions) {
    if (step.from != from || step.to != to) continue;
    return (rest & step.required) == step.required &&
           (rest & ~(step.required | step.optional)) == 0;
  }
  return false;
}

void ArmTimer(int fd, std::chrono::steady_clock::time_point due) {
  const auto since_boot = due.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
  itimerspec spec{};
  spec.it_value = {.tv_sec = seconds.count(), .tv_nsec = (since_boot - seconds).count()};
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Merge(ibv_qp_attr& into, const ibv_qp_attr& from, ibv_qp_state to) {
  if (to == IBV_QPS_INIT) {
    into.port_num = from.port_num;
    into.qp_access_flags = from.qp_access_flags;
  } else if (to == IBV_QPS_RTR) {
    into.path_mtu = from.path_mtu;
    into.dest_qp_num = from.dest_qp_num;
    into.rq_psn = from.rq_psn;
    into.ah_attr = from.ah_attr;
  } else if (to == IBV_QPS_RTS) {
    into.sq_psn = from.sq_psn;
    into.timeout = from.timeout;
    into.retry_cnt = from.retry_cnt;
    into.max_rd_atomic = from.max_rd_atomic;
  }
}

}  // namespace

const probes::GidEntry* GidAt(const FakePort& port, std::uint32_t index) {
  const auto found = std::find_if(port.gids.begin(), port.gids.end(),
                                  [index](const auto& entry) { return entry.index == index; });
  return found == port.gids.end() ? nullptr : &*found;
}

bool Ibverbs::Model::FaultDue(const std::string& verb, bool creating) {
  if (creating) ++seen;
  if (fail_at == 0) return false;
  if (fail_verb.empty()) return creating && seen == fail_at;
  return verb == fail_verb && ++fail_verb_seen == fail_at;
}

bool Ibverbs::Model::IsHeld(const FakeCall& call) const {
  const auto found = held.find(call.verb);
  if (found == held.end()) return false;
  return found->second.empty() || (call.device != nullptr && call.device->name == found->second);
}

int Ibverbs::Model::Enter(std::unique_lock<std::mutex>& lock, const FakeCall& call) {
  ++calls[call.verb];
  if (const auto hook = before.find(call.verb); hook != before.end()) {
    const std::function<void()> what = std::move(hook->second);
    before.erase(hook);
    lock.unlock();
    what();
    lock.lock();
  }
  ++waiting[call.verb];
  changed.wait(lock, [this, &call] { return !IsHeld(call); });
  --waiting[call.verb];
  if (call.device != nullptr && vanish_in > 0 && call.device->name == vanish_device &&
      --vanish_in == 0) {
    faulty_verb = call.verb;
    Vanish(*call.device);
  }
  if (call.context != nullptr ? call.context->dead : call.device != nullptr && call.device->gone) {
    return call.context == nullptr ? ENODEV : EIO;
  }
  if (!FaultDue(call.verb, call.creating)) return 0;
  faulty_verb = call.verb;
  fail_at = 0;
  return fail_code;
}

FakeDevice& Ibverbs::Model::Find(const std::string& name) {
  const auto found = devices.find(name);
  if (found == devices.end()) {
    std::fprintf(stderr, "tests/fakes/ibverbs: there is no device %s\n", name.c_str());
    std::abort();
  }
  return *found->second;
}

FakeRcQp* Ibverbs::Model::FindQp(const std::string& device, std::uint32_t qpn) const {
  for (const auto& [handle, qp] : qps) {
    if (qp->context->device->name == device && qp->ibv.qp_num == qpn) return qp.get();
  }
  return nullptr;
}

void Ibverbs::Model::Vanish(FakeDevice& device) {
  device.gone = true;
  for (const auto& [handle, context] : contexts) {
    if (context->device != &device || context->dead) continue;
    context->dead = true;
    eventfd_write(context->async.get(), 1);
    for (const auto& [fd, channel] : channels) {
      if (channel->context == context.get()) eventfd_write(channel->fd.get(), 1);
    }
  }
}

void Ibverbs::Model::Raise(FakeContext& context, const ibv_async_event& event) {
  context.events.push_back(event);
  eventfd_write(context.async.get(), 1);
}

int Ibverbs::Model::CheckAddress(const FakeRcQp& qp, const ibv_ah_attr& address, ibv_mtu path_mtu) {
  const auto port = qp.context->device->ports.find(address.port_num);
  if (port == qp.context->device->ports.end() || address.port_num != qp.attr.port_num)
    return EINVAL;
  if (path_mtu < IBV_MTU_256 || path_mtu > port->second.mtu) return EINVAL;
  if (address.is_global == 0) {
    return port->second.link_layer == LinkLayer::kInfiniband && address.dlid != 0 ? 0 : EINVAL;
  }
  Gid remote;
  std::memcpy(remote.bytes.data(), address.grh.dgid.raw, remote.bytes.size());
  const probes::GidEntry* const local = GidAt(port->second, address.grh.sgid_index);
  if (local == nullptr || remote.IsZero() || address.grh.flow_label > kFlowLabelMax) return EINVAL;
  if (local->gid.IsIpv4() != remote.IsIpv4()) return EINVAL;
  for (const auto& [name, device] : devices) {
    if (device->gone) continue;
    for (const auto& [number, candidate] : device->ports) {
      for (const probes::GidEntry& entry : candidate.gids) {
        if (entry.gid == remote) return 0;
      }
    }
  }
  return answer_after ? 0 : ETIMEDOUT;  // nobody answers
}

int Ibverbs::Model::Modify(FakeRcQp& qp, const ibv_qp_attr& attr, int mask) {
  const ibv_qp_state to = attr.qp_state;
  if (qp.ibv.qp_type == IBV_QPT_UD && to != IBV_QPS_ERR) return ModifyUd(qp, attr, mask);
  if (!MaskFits(qp.state, to, mask)) return EINVAL;
  if (to == IBV_QPS_ERR) {
    MoveToError(qp);
    return 0;
  }
  if (to == IBV_QPS_INIT) {
    if (!qp.context->device->ports.contains(attr.port_num)) return EINVAL;
  } else if (to == IBV_QPS_RTR) {
    if (attr.rq_psn > kPsnMax || attr.dest_qp_num > kPsnMax) return EINVAL;
    if (attr.max_dest_rd_atomic > qp.context->device->rd_atomics) return EINVAL;
    if (attr.min_rnr_timer > 31) return EINVAL;
    if (const int code = CheckAddress(qp, attr.ah_attr, attr.path_mtu); code != 0) return code;
  } else if (to == IBV_QPS_RTS) {
    if (attr.sq_psn > kPsnMax || attr.timeout > 31) return EINVAL;
    if (attr.retry_cnt > 7 || attr.rnr_retry > 7) return EINVAL;
    if (attr.max_rd_atomic > qp.context->device->rd_atomics) return EINVAL;
  }
  Merge(qp.attr, attr, to);
  qp.state = to;
  if (to == IBV_QPS_RTR && attr.ah_attr.is_global != 0) {
    const std::uint32_t index = attr.ah_attr.grh.sgid_index;
    qp.local_gid = GidAt(qp.context->device->ports[attr.ah_attr.port_num], index)->gid;
    qp.gid_life = qp.context->device->lives[{attr.ah_attr.port_num, index}];
  }
  if (to == IBV_QPS_RESET) {
    qp.posted.clear();
    qp.receives.clear();
  }
  return 0;
}

void Ibverbs::Model::MoveToError(FakeRcQp& qp) {
  qp.state = IBV_QPS_ERR;
  for (const FakeWork& work : std::exchange(qp.posted, {})) {
    Complete(qp, work.wr_id, IBV_WC_WR_FLUSH_ERR);
  }
  for (const FakeReceive& receive : std::exchange(qp.receives, {})) {
    ibv_wc wc{};
    wc.wr_id = receive.wr_id;
    wc.status = IBV_WC_WR_FLUSH_ERR;
    Complete(qp, qp.ibv.recv_cq, wc);
  }
}

int Ibverbs::Model::Post(FakeRcQp& qp, const ibv_send_wr& request) {
  if (qp.state != IBV_QPS_RTS && qp.state != IBV_QPS_ERR) return EINVAL;
  if (qp.posted.size() >= qp.cap.max_send_wr) return ENOMEM;
  if (request.num_sge < 0 || request.num_sge > static_cast<int>(qp.cap.max_send_sge)) return EINVAL;
  if ((request.send_flags & IBV_SEND_SIGNALED) == 0) Note("unsignalled work never completes");
  FakeWork work{.wr_id = request.wr_id,
                .opcode = request.opcode,
                .local = {},
                .remote_addr = request.wr.rdma.remote_addr,
                .rkey = request.wr.rdma.rkey,
                .add = 0,
                .ah = nullptr,
                .remote_qpn = 0,
                .remote_qkey = 0};
  if (request.num_sge > 0) work.local = request.sg_list[0];
  if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    work.remote_addr = request.wr.atomic.remote_addr;
    work.rkey = request.wr.atomic.rkey;
    work.add = request.wr.atomic.compare_add;
  }
  if (qp.ibv.qp_type == IBV_QPT_UD) {
    work.ah = request.wr.ud.ah;
    work.remote_qpn = request.wr.ud.remote_qpn;
    work.remote_qkey = request.wr.ud.remote_qkey;
  }
  if (const int code = CheckWork(qp, work); code != 0) return code;
  if (qp.state == IBV_QPS_ERR) {
    // siw takes it and says nothing of it ever again.
    if (!qp.joined) Complete(qp, work.wr_id, IBV_WC_WR_FLUSH_ERR);
  } else if (answer_after) {
    FakeChannel& channel = *cqs.at(qp.ibv.send_cq)->channel;
    channel.answers.emplace_back(std::chrono::steady_clock::now() + *answer_after, &qp.ibv);
    qp.posted.push_back(work);
    if (channel.answers.size() == 1) ArmTimer(channel.fd.get(), channel.answers.front().first);
  } else if (withhold) {
    qp.posted.push_back(work);
  } else {
    Execute(qp, work);
  }
  return 0;
}

int Ibverbs::Model::PostReceive(FakeRcQp& qp, const ibv_recv_wr& request) {
  const bool fits = request.num_sge > 0 && request.num_sge <= static_cast<int>(qp.cap.max_recv_sge);
  if (qp.state == IBV_QPS_RESET || !fits) return EINVAL;
  if (qp.state == IBV_QPS_ERR) return 0;  // and is never heard of again, as on rxe
  if (qp.receives.size() >= qp.cap.max_recv_wr) return ENOMEM;
  qp.receives.push_back(
      {.wr_id = request.wr_id, .local = {request.sg_list, request.sg_list + request.num_sge}});
  return 0;
}

void Ibverbs::Model::DeliverAll() {
  for (const auto& [handle, qp] : qps) {
    while (!qp->posted.empty()) {
      const FakeWork work = qp->posted.front();
      qp->posted.pop_front();
      Execute(*qp, work);
    }
  }
}

void Ibverbs::Model::AnswerDue(FakeChannel& channel) {
  std::uint64_t expirations = 0;
  if (read(channel.fd.get(), &expirations, sizeof expirations) < 0) return;
  while (!channel.answers.empty() &&
         channel.answers.front().first <= std::chrono::steady_clock::now()) {
    const auto found = qps.find(channel.answers.front().second);
    channel.answers.pop_front();
    if (found == qps.end() || found->second->posted.empty()) continue;
    const FakeWork work = found->second->posted.front();
    found->second->posted.pop_front();
    Execute(*found->second, work);
  }
  if (!channel.answers.empty()) ArmTimer(channel.fd.get(), channel.answers.front().first);
}

void Ibverbs::Model::Execute(FakeRcQp& qp, const FakeWork& work) {
  if (qp.context->dead) return;  // nothing completes any more
  const ibv_wc_status status =
      next_status ? *std::exchange(next_status, std::nullopt) : Deliver(qp, work);
  Complete(qp, work.wr_id, status);
  if (status != IBV_WC_SUCCESS) MoveToError(qp);
}

void Ibverbs::Model::Complete(FakeRcQp& qp, std::uint64_t wr_id, ibv_wc_status status) {
  ibv_wc wc{};
  wc.wr_id = wr_id;
  wc.status = status;
  Complete(qp, qp.ibv.send_cq, wc);
}

void Ibverbs::Model::Complete(FakeRcQp& qp, ibv_cq* handle, ibv_wc wc) {
  FakeCq& cq = *cqs.at(handle);
  if (cq.completions.size() >= static_cast<std::size_t>(cq.ibv.cqe)) {
    ibv_async_event overrun{};  // the completion is lost for good; the QP does not notice
    overrun.element.cq = &cq.ibv;
    overrun.event_type = IBV_EVENT_CQ_ERR;
    Raise(*cq.context, overrun);
    return;
  }
  wc.qp_num = qp.ibv.qp_num;
  wc.vendor_err = wc.status == IBV_WC_SUCCESS ? 0 : 0x81;
  const FakeDevice& device = *cq.context->device;
  const auto lay = device.clock ? device.clock->lay : std::chrono::milliseconds(0);
  cq.completions.push_back({.wc = wc, .cycles = device.Cycles(lay)});
  if (!cq.armed || cq.channel == nullptr) return;
  cq.armed = false;
  cq.channel->events.push_back(&cq);
  if (!answer_after) eventfd_write(cq.channel->fd.get(), 1);
}

// A driver leaves completions of a destroyed QP in the CQ (rxe) or takes them out (mlx5): here they
// stay, and the number of a destroyed QP is given to the next one.
int Ibverbs::Model::Poll(FakeCq& cq, int max, ibv_wc* out) {
  int count = 0;
  while (count < max && !cq.completions.empty()) {
    out[count++] = cq.completions.front().wc;
    cq.completions.pop_front();
  }
  return count;
}

bool Ibverbs::Model::TakeNext(FakeCq& cq) {
  cq.polled.reset();
  if (cq.completions.empty()) return false;
  cq.polled = cq.completions.front();
  cq.completions.pop_front();
  return true;
}

}  // namespace rdmapulse::fakes
