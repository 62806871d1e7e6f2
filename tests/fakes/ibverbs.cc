// The verbs that make, change and give back objects, with libibverbs' names and conventions.
#include "tests/fakes/ibverbs.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "tests/fakes/ibverbs_model.h"

// verbs.h puts inline wrappers before these two.
#undef ibv_query_port
#undef ibv_reg_mr

namespace rdmapulse::fakes {
namespace {

template <typename T>
std::nullptr_t Null(int code) {
  errno = code;
  return nullptr;
}

// Takes the object in, and hands its handle out.
template <typename T>
auto* Keep(Handles<T>& handles, std::unique_ptr<T> object) {
  auto* const handle = &object->ibv;
  handles[handle] = std::move(object);
  return handle;
}

// A destroy call: what the device says does not matter once it is gone, the handle is released.
template <typename T>
int GiveBack(Handles<T>& handles, const void* handle, const std::string& verb,
             const std::string& used_by) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  T* const object = Known(model, handles, handle, verb);
  if (object == nullptr) return EINVAL;
  const int code = model.Enter(lock, On(*object->context, verb));
  if (!used_by.empty()) {
    model.Note(verb + " while it has " + used_by);
    return EBUSY;
  }
  if (code != 0 && !object->context->dead) return code;
  handles.erase(handle);
  return code;
}

// Events that an object takes with it.
void Consume(const UniqueFd& fd, std::size_t count) {
  eventfd_t one = 0;
  for (; count > 0; --count) eventfd_read(fd.get(), &one);
}

template <typename T, typename Uses>
bool Any(const Handles<T>& handles, Uses uses) {
  return std::any_of(handles.begin(), handles.end(),
                     [&uses](const auto& entry) { return uses(*entry.second); });
}

int QueryPort(ibv_context* handle, std::uint8_t number, ibv_port_attr* attr, std::size_t bytes) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_query_port");
  if (context == nullptr) return EINVAL;
  if (const int code = model.Enter(lock, On(*context, "ibv_query_port")); code != 0) return code;
  const auto port = context->device->ports.find(number);
  if (port == context->device->ports.end() || bytes < sizeof *attr) return EINVAL;
  *attr = {};
  attr->state = port->second.active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr->max_mtu = IBV_MTU_4096;
  attr->active_mtu = port->second.mtu;
  attr->gid_tbl_len = 1024;
  attr->lid = port->second.lid;
  attr->link_layer = port->second.link_layer == LinkLayer::kEthernet ? IBV_LINK_LAYER_ETHERNET
                                                                     : IBV_LINK_LAYER_INFINIBAND;
  return 0;
}

std::uint32_t TypeOf(GidType type) {
  switch (type) {
    case GidType::kRoceV1: return IBV_GID_TYPE_ROCE_V1;
    case GidType::kRoceV2: return IBV_GID_TYPE_ROCE_V2;
    default: return IBV_GID_TYPE_IB;
  }
}

std::uint32_t FreeQpn(const Ibverbs::Model& model, const FakeContext& context) {
  std::uint32_t number = 0x11;
  while (Any(model.qps, [&context, number](const FakeRcQp& qp) {
    return qp.context->device == context.device && qp.ibv.qp_num == number;
  })) {
    ++number;
  }
  return number;
}

std::string StateName(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET: return "RESET";
    case IBV_QPS_INIT: return "INIT";
    case IBV_QPS_RTR: return "RTR";
    case IBV_QPS_RTS: return "RTS";
    case IBV_QPS_ERR: return "ERR";
    default: return "?";
  }
}

}  // namespace
}  // namespace rdmapulse::fakes

using namespace rdmapulse::fakes;  // NOLINT(google-build-using-namespace): the C names below

extern "C" {

ibv_device** ibv_get_device_list(int* num_devices) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  if (const int code = model.Enter(lock, {.verb = "ibv_get_device_list", .creating = true})) {
    return Null<ibv_device*>(code);
  }
  auto list = std::make_unique<std::vector<ibv_device*>>();
  for (const auto& [name, device] : model.devices) {
    if (!device->gone) list->push_back(&device->ibv);
  }
  if (num_devices != nullptr) *num_devices = static_cast<int>(list->size());
  list->push_back(nullptr);
  ibv_device** const handle = list->data();
  model.lists[handle] = std::move(list);
  return handle;
}

void ibv_free_device_list(ibv_device** list) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  if (model.lists.erase(list) == 0) model.Note("ibv_free_device_list of no list");
}

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

ibv_context* ibv_open_device(ibv_device* device) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeDevice& found = model.Find(device->name);
  if (const int code = model.Enter(lock, {"ibv_open_device", true, &found})) {
    return Null<ibv_context>(code);
  }
  auto context = std::make_unique<FakeContext>();
  context->device = &found;
  context->async = rdmapulse::UniqueFd(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  context->verbs.sz = sizeof context->verbs;
  context->verbs.query_port = QueryPort;
  FillClock(context->verbs);
  ibv_context& handle = context->verbs.context;
  handle.device = device;
  handle.abi_compat = __VERBS_ABI_IS_EXTENDED;
  handle.async_fd = context->async.get();
  handle.cmd_fd = -1;
  handle.num_comp_vectors = 1;
  FillTraffic(handle.ops);
  model.contexts[&handle] = std::move(context);
  errno = ENOTTY;  // junk that a successful open may leave
  return &handle;
}

int ibv_close_device(ibv_context* handle) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_close_device");
  if (context == nullptr) return -1;
  const int code = model.Enter(lock, On(*context, "ibv_close_device"));
  const auto uses = [context](const auto& object) { return object.context == context; };
  if (Any(model.pds, uses) || Any(model.mrs, uses) || Any(model.channels, uses) ||
      Any(model.cqs, uses) || Any(model.qps, uses) || Any(model.ahs, uses)) {
    model.Note("ibv_close_device while objects are open on it");
    return -1;
  }
  model.contexts.erase(handle);
  if (code == 0) return 0;
  errno = code;
  return -1;
}

ibv_pd* ibv_alloc_pd(ibv_context* handle) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_alloc_pd");
  if (context == nullptr) return Null<ibv_pd>(EINVAL);
  if (const int code = model.Enter(lock, On(*context, "ibv_alloc_pd", true))) {
    return Null<ibv_pd>(code);
  }
  auto pd = std::make_unique<FakePd>();
  pd->context = context;
  pd->ibv.context = handle;
  return Keep(model.pds, std::move(pd));
}

int ibv_dealloc_pd(ibv_pd* pd) {
  Ibverbs::Model& model = TheModel();
  std::string used;
  {
    const Lock lock(model.mutex);
    const auto uses = [pd](const auto& object) { return object.ibv.pd == pd; };
    if (Any(model.mrs, uses)) used = "an ibv_mr";
    if (Any(model.qps, uses)) used = "an ibv_qp";
    if (Any(model.ahs, uses)) used = "an ibv_ah";
  }
  return GiveBack(model.pds, pd, "ibv_dealloc_pd", used);
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* handle, void* addr, std::size_t length, std::uint64_t /*iova*/,
                         unsigned access) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakePd* const pd = Known(model, model.pds, handle, "ibv_reg_mr");
  if (pd == nullptr) return Null<ibv_mr>(EINVAL);
  if (const int code = model.Enter(lock, On(*pd->context, "ibv_reg_mr", true))) {
    return Null<ibv_mr>(code);
  }
  // ibv_reg_mr(3): remote writing asks for local writing.
  if ((access & IBV_ACCESS_REMOTE_WRITE) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    return Null<ibv_mr>(EINVAL);
  }
  auto mr = std::make_unique<FakeMr>();
  mr->context = pd->context;
  mr->access = access;
  mr->ibv.context = &pd->context->verbs.context;
  mr->ibv.pd = handle;
  mr->ibv.addr = addr;
  mr->ibv.length = length;
  mr->ibv.lkey = ++model.last_key;
  mr->ibv.rkey = ++model.last_key;
  return Keep(model.mrs, std::move(mr));
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, std::size_t length, int access) {
  return ibv_reg_mr_iova2(pd, addr, length, reinterpret_cast<std::uintptr_t>(addr),
                          static_cast<unsigned>(access));
}

int ibv_dereg_mr(ibv_mr* mr) { return GiveBack(TheModel().mrs, mr, "ibv_dereg_mr", {}); }

ibv_comp_channel* ibv_create_comp_channel(ibv_context* handle) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_create_comp_channel");
  if (context == nullptr) return Null<ibv_comp_channel>(EINVAL);
  if (const int code = model.Enter(lock, On(*context, "ibv_create_comp_channel", true))) {
    return Null<ibv_comp_channel>(code);
  }
  auto channel = std::make_unique<FakeChannel>();
  channel->context = context;
  channel->fd = rdmapulse::UniqueFd(
      model.answer_after ? timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)
                         : eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  channel->ibv.context = handle;
  channel->ibv.fd = channel->fd.get();
  return Keep(model.channels, std::move(channel));
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  Ibverbs::Model& model = TheModel();
  std::string used;
  {
    const Lock lock(model.mutex);
    const auto uses = [channel](const FakeCq& cq) { return cq.ibv.channel == channel; };
    if (Any(model.cqs, uses)) used = "an ibv_cq";
  }
  return GiveBack(model.channels, channel, "ibv_destroy_comp_channel", used);
}

ibv_cq* ibv_create_cq(ibv_context* handle, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_create_cq");
  if (context == nullptr) return Null<ibv_cq>(EINVAL);
  if (const int code = model.Enter(lock, On(*context, "ibv_create_cq", true))) {
    return Null<ibv_cq>(code);
  }
  if (cqe < 1 || cqe > 32767 || comp_vector != 0) return Null<ibv_cq>(EINVAL);
  auto cq = std::make_unique<FakeCq>();
  cq->context = context;
  if (channel != nullptr) cq->channel = Known(model, model.channels, channel, "ibv_create_cq");
  cq->ibv.context = handle;
  cq->ibv.channel = channel;
  cq->ibv.cq_context = cq_context;
  cq->ibv.cqe = cqe;
  return Keep(model.cqs, std::move(cq));
}

int ibv_destroy_cq(ibv_cq* handle) {
  Ibverbs::Model& model = TheModel();
  std::string used;
  {
    const Lock lock(model.mutex);
    const auto uses = [handle](const FakeRcQp& qp) {
      return qp.ibv.send_cq == handle || qp.ibv.recv_cq == handle;
    };
    const auto cq = model.cqs.find(handle);
    if (Any(model.qps, uses)) used = "an ibv_qp";
    if (cq != model.cqs.end() && cq->second->unacknowledged > 0) used = "an unacknowledged event";
    if (model.unacknowledged_events[handle] > 0) used = "an unacknowledged async event";
    if (used.empty() && cq != model.cqs.end()) {
      FakeCq& dying = *cq->second;
      if (dying.channel != nullptr) {
        Consume(dying.channel->fd, std::erase(dying.channel->events, &dying));
      }
      FakeContext& context = *dying.context;
      Consume(context.async, std::erase_if(context.events, [handle](const auto& event) {
                return event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == handle;
              }));
    }
  }
  return GiveBack(model.cqs, handle, "ibv_destroy_cq", used);
}

ibv_qp* ibv_create_qp(ibv_pd* handle, ibv_qp_init_attr* init) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakePd* const pd = Known(model, model.pds, handle, "ibv_create_qp");
  if (pd == nullptr) return Null<ibv_qp>(EINVAL);
  if (const int code = model.Enter(lock, On(*pd->context, "ibv_create_qp", true))) {
    return Null<ibv_qp>(code);
  }
  const bool known = init->qp_type == IBV_QPT_RC || init->qp_type == IBV_QPT_UD;
  if (!known || init->cap.max_send_wr == 0 ||
      Known(model, model.cqs, init->send_cq, "ibv_create_qp") == nullptr ||
      Known(model, model.cqs, init->recv_cq, "ibv_create_qp") == nullptr) {
    return Null<ibv_qp>(EINVAL);
  }
  auto qp = std::make_unique<FakeRcQp>();
  qp->context = pd->context;
  qp->cap = init->cap;
  qp->ibv.context = &pd->context->verbs.context;
  qp->ibv.pd = handle;
  qp->ibv.send_cq = init->send_cq;
  qp->ibv.recv_cq = init->recv_cq;
  qp->ibv.qp_type = init->qp_type;
  qp->ibv.qp_num = FreeQpn(model, *pd->context);
  return Keep(model.qps, std::move(qp));
}

int ibv_modify_qp(ibv_qp* handle, ibv_qp_attr* attr, int mask) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  const std::string verb = "ibv_modify_qp to " + StateName(attr->qp_state);
  FakeRcQp* const qp = Known(model, model.qps, handle, verb);
  if (qp == nullptr) return EINVAL;
  const int code = model.Enter(lock, On(*qp->context, verb, true));
  return code != 0 ? code : model.Modify(*qp, *attr, mask);
}

int ibv_destroy_qp(ibv_qp* handle) {
  Ibverbs::Model& model = TheModel();
  std::string used;
  {
    const Lock lock(model.mutex);
    const auto qp = model.qps.find(handle);
    if (model.unacknowledged_events[handle] > 0) used = "an unacknowledged async event";
    if (used.empty() && qp != model.qps.end()) {
      FakeContext& context = *qp->second->context;
      Consume(context.async, std::erase_if(context.events, [handle](const auto& event) {
                return event.event_type != IBV_EVENT_CQ_ERR && event.element.qp == handle;
              }));
    }
  }
  return GiveBack(model.qps, handle, "ibv_destroy_qp", used);
}

ssize_t _ibv_query_gid_table(  // NOLINT(bugprone-reserved-identifier): libibverbs' own name
    ibv_context* handle, ibv_gid_entry* entries, std::size_t max, std::uint32_t /*flags*/,
    std::size_t entry_bytes) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_query_gid_table");
  if (context == nullptr || entry_bytes != sizeof *entries) return -EINVAL;
  if (const int code = model.Enter(lock, On(*context, "ibv_query_gid_table"))) return -code;
  std::size_t count = 0;
  for (const auto& [number, port] : context->device->ports) {
    for (const rdmapulse::probes::GidEntry& gid : port.gids) {
      if (count == max) return -EINVAL;  // as the kernel's rdma_query_gid_table
      ibv_gid_entry& entry = entries[count++];
      entry = {};
      std::copy(gid.gid.bytes.begin(), gid.gid.bytes.end(), entry.gid.raw);
      entry.gid_index = gid.index;
      entry.port_num = number;
      entry.gid_type = TypeOf(gid.type);
    }
  }
  return static_cast<ssize_t>(count);
}

}  // extern "C"
