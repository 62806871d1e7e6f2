// A NIC's clock, and the completion queues that it stamps.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/fakes/ibverbs_model.h"

namespace rdmapulse::fakes {

std::uint64_t FakeDevice::Cycles(std::chrono::milliseconds ago) const {
  if (!clock) return 0;
  const std::chrono::duration<double, std::milli> passed =
      std::chrono::steady_clock::now() - clock->set;
  const double rate = static_cast<double>(clock->kilohertz) * (1 + clock->drift);
  const auto counted =
      static_cast<std::int64_t>((passed.count() - static_cast<double>(ago.count())) * rate);
  return (clock->start + static_cast<std::uint64_t>(counted)) & clock->mask;
}

namespace {

FakeCq* Of(ibv_cq_ex* handle, const std::string& verb) {
  Ibverbs::Model& model = TheModel();
  return Known(model, model.cqs, handle, verb);
}

int StartPoll(ibv_cq_ex* handle, ibv_poll_cq_attr* /*attr*/) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeCq* const cq = Of(handle, "ibv_start_poll");
  if (cq == nullptr) return EINVAL;
  // Tests of what happens in a look mean either kind of queue.
  if (const int code = model.Enter(lock, On(*cq->context, "ibv_poll_cq"))) return code;
  if (cq->polled) model.Note("ibv_start_poll within a poll");
  if (!model.TakeNext(*cq)) return ENOENT;
  handle->wr_id = cq->polled->wc.wr_id;
  handle->status = cq->polled->wc.status;
  return 0;
}

int NextPoll(ibv_cq_ex* handle) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  FakeCq* const cq = Of(handle, "ibv_next_poll");
  if (cq == nullptr) return EINVAL;
  if (!cq->polled) model.Note("ibv_next_poll outside a poll");
  const FakeCompletion last = cq->polled.value_or(FakeCompletion{});
  if (!model.TakeNext(*cq)) {
    cq->polled = last;  // until the poll is ended
    return ENOENT;
  }
  handle->wr_id = cq->polled->wc.wr_id;
  handle->status = cq->polled->wc.status;
  return 0;
}

void EndPoll(ibv_cq_ex* handle) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  FakeCq* const cq = Of(handle, "ibv_end_poll");
  if (cq == nullptr) return;
  if (!cq->polled) model.Note("ibv_end_poll outside a poll");
  cq->polled.reset();
}

// What the queue was made to tell; of work that failed only the vendor's error.
FakeCompletion Current(ibv_cq_ex* handle, std::uint64_t field, const std::string& what) {
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  const FakeCq* const cq = Of(handle, "reading a completion's " + what);
  if (cq == nullptr || !cq->polled) {
    model.Note("reading a completion's " + what + " outside a poll");
    return {};
  }
  if (field != 0 && (cq->fields & field) == 0) model.Note(what + " was not asked for");
  if (field != 0 && cq->polled->wc.status != IBV_WC_SUCCESS) {
    model.Note(what + " of work that failed");
  }
  return *cq->polled;
}

std::uint32_t ReadVendorError(ibv_cq_ex* handle) {
  return Current(handle, 0, "vendor error").wc.vendor_err;
}

std::uint32_t ReadByteLen(ibv_cq_ex* handle) {
  return Current(handle, IBV_WC_EX_WITH_BYTE_LEN, "byte_len").wc.byte_len;
}

std::uint32_t ReadSrcQp(ibv_cq_ex* handle) {
  return Current(handle, IBV_WC_EX_WITH_SRC_QP, "src_qp").wc.src_qp;
}

std::uint64_t ReadCompletionTs(ibv_cq_ex* handle) {
  return Current(handle, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP, "completion_ts").cycles;
}

ibv_cq_ex* CreateCqEx(ibv_context* handle, ibv_cq_init_attr_ex* init) {
  const FakeDevice* device = nullptr;
  {
    Ibverbs::Model& model = TheModel();
    const Lock lock(model.mutex);
    const FakeContext* const context = Known(model, model.contexts, handle, "ibv_create_cq_ex");
    if (context != nullptr) device = context->device;
  }
  if (device == nullptr || !device->clock) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  ibv_cq* const made = ibv_create_cq(handle, static_cast<int>(init->cqe), init->cq_context,
                                     init->channel, static_cast<int>(init->comp_vector));
  if (made == nullptr) return nullptr;
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  FakeCq& cq = *model.cqs.at(made);
  cq.stamped = true;
  cq.fields = init->wc_flags;
  cq.extended.start_poll = StartPoll;
  cq.extended.next_poll = NextPoll;
  cq.extended.end_poll = EndPoll;
  cq.extended.read_vendor_err = ReadVendorError;
  cq.extended.read_byte_len = ReadByteLen;
  cq.extended.read_src_qp = ReadSrcQp;
  cq.extended.read_completion_ts = ReadCompletionTs;
  return &cq.extended;
}

int QueryRtValues(ibv_context* handle, ibv_values_ex* values) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeContext* const context = Known(model, model.contexts, handle, "ibv_query_rt_values_ex");
  if (context == nullptr) return EINVAL;
  if (const int code = model.Enter(lock, On(*context, "ibv_query_rt_values_ex"))) return code;
  if (!context->device->clock) return EOPNOTSUPP;
  values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
  values->raw_clock = {.tv_sec = 0,
                       .tv_nsec = static_cast<std::int64_t>(context->device->Cycles())};
  return 0;
}

int QueryDeviceEx(ibv_context* handle, const ibv_query_device_ex_input* /*input*/,
                  ibv_device_attr_ex* attr, std::size_t size) {
  std::memset(attr, 0, size);
  if (const int code = ibv_query_device(handle, &attr->orig_attr)) return code;
  Ibverbs::Model& model = TheModel();
  const Lock lock(model.mutex);
  const FakeContext* const context = Known(model, model.contexts, handle, "ibv_query_device_ex");
  if (context == nullptr || !context->device->clock) return 0;
  attr->completion_timestamp_mask = context->device->clock->mask;
  attr->hca_core_clock = context->device->clock->kilohertz;
  return 0;
}

}  // namespace

void FillClock(verbs_context& verbs) {
  verbs.create_cq_ex = CreateCqEx;
  verbs.query_rt_values = QueryRtValues;
  verbs.query_device_ex = QueryDeviceEx;
}

}  // namespace rdmapulse::fakes
