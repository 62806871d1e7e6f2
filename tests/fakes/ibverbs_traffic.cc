// The verbs of a running device: what it says of itself, work, completions and events.
#include <fcntl.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "tests/fakes/ibverbs_model.h"

namespace rdmapulse::fakes {
namespace {

int PostSend(ibv_qp* handle, ibv_send_wr* request, ibv_send_wr** bad) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeRcQp* const qp = Known(model, model.qps, handle, "ibv_post_send");
  if (qp == nullptr) return EINVAL;
  int code = model.Enter(lock, On(*qp->context, "ibv_post_send"));
  for (; request != nullptr && code == 0; request = request->next) {
    code = model.Post(*qp, *request);
    if (code != 0) break;
  }
  *bad = code == 0 ? nullptr : request;
  return code;
}

int PostRecv(ibv_qp* handle, ibv_recv_wr* request, ibv_recv_wr** bad) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeRcQp* const qp = Known(model, model.qps, handle, "ibv_post_recv");
  if (qp == nullptr) return EINVAL;
  int code = model.Enter(lock, On(*qp->context, "ibv_post_recv"));
  for (; request != nullptr && code == 0; request = request->next) {
    code = model.PostReceive(*qp, *request);
    if (code != 0) break;
  }
  *bad = code == 0 ? nullptr : request;
  return code;
}

int PollCq(ibv_cq* handle, int max, ibv_wc* out) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeCq* const cq = Known(model, model.cqs, handle, "ibv_poll_cq");
  if (cq == nullptr || model.Enter(lock, On(*cq->context, "ibv_poll_cq")) != 0) return -1;
  if (cq->stamped) model.Note("ibv_poll_cq on an extended queue, which loses time stamps");
  return model.Poll(*cq, max, out);
}

int ReqNotifyCq(ibv_cq* handle, int /*solicited_only*/) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeCq* const cq = Known(model, model.cqs, handle, "ibv_req_notify_cq");
  if (cq == nullptr) return EINVAL;
  const int code = model.Enter(lock, On(*cq->context, "ibv_req_notify_cq", true));
  if (code == 0) cq->armed = true;
  return code;
}

// The next event's place in the queue: 0, or the errno that a descriptor which does not block says.
int TakeCount(Ibverbs::Model& model, const UniqueFd& fd, bool empty, const std::string& verb) {
  if (empty) {
    if ((fcntl(fd.get(), F_GETFL) & O_NONBLOCK) == 0) model.Note(verb + " blocks");
    return EAGAIN;
  }
  eventfd_t one = 0;
  return eventfd_read(fd.get(), &one) == 0 ? 0 : errno;
}

bool IsOfAnObject(const ibv_async_event& event) {
  return event.event_type <= IBV_EVENT_PATH_MIG_ERR;
}

}  // namespace

void FillTraffic(ibv_context_ops& ops) {
  ops.post_send = PostSend;
  ops.post_recv = PostRecv;
  ops.poll_cq = PollCq;
  ops.req_notify_cq = ReqNotifyCq;
}

}  // namespace rdmapulse::fakes

using namespace rdmapulse::fakes;  // NOLINT(google-build-using-namespace): the C names below

extern "C" {

int ibv_query_device(ibv_context* handle, ibv_device_attr* attr) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_query_device");
  if (context == nullptr) return EINVAL;
  if (const int code = model.Enter(lock, On(*context, "ibv_query_device", true))) return code;
  *attr = {};
  attr->atomic_cap = context->device->atomic_cap;
  attr->max_cqe = 32767;
  attr->max_qp_rd_atom = context->device->rd_atomics;
  attr->max_qp_init_rd_atom = context->device->rd_atomics;
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* handle, ibv_cq** cq, void** cq_context) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeChannel* const channel = Known(model, model.channels, handle, "ibv_get_cq_event");
  if (channel == nullptr) return -1;
  int code = model.Enter(lock, On(*channel->context, "ibv_get_cq_event"));
  if (code == 0 && model.answer_after) {
    model.AnswerDue(*channel);
    code = channel->events.empty() ? EAGAIN : 0;
  } else if (code == 0) {
    code = TakeCount(model, channel->fd, channel->events.empty(), "ibv_get_cq_event");
  }
  if (code != 0) {
    errno = code;
    return -1;
  }
  FakeCq* const found = channel->events.front();
  channel->events.pop_front();
  ++found->unacknowledged;
  *cq = &found->ibv;
  *cq_context = found->ibv.cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* handle, unsigned count) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  FakeCq* const cq = Known(model, model.cqs, handle, "ibv_ack_cq_events");
  if (cq == nullptr) return;
  if (count > cq->unacknowledged) model.Note("more events acknowledged than there were");
  cq->unacknowledged -= std::min(count, cq->unacknowledged);
}

int ibv_get_async_event(ibv_context* handle, ibv_async_event* event) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_get_async_event");
  if (context == nullptr) return -1;
  int code = model.Enter(lock, On(*context, "ibv_get_async_event"));
  if (code == 0) {
    code = TakeCount(model, context->async, context->events.empty(), "ibv_get_async_event");
  }
  if (code != 0) {
    errno = code;
    return -1;
  }
  *event = context->events.front();
  context->events.pop_front();
  if (IsOfAnObject(*event)) ++model.unacknowledged_events[event->element.qp];
  return 0;
}

void ibv_ack_async_event(ibv_async_event* event) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  if (IsOfAnObject(*event)) --model.unacknowledged_events[event->element.qp];
}

}  // extern "C"
