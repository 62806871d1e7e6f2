#include "probes/verbs/completion_queue.h"

#include <array>
#include <cerrno>

namespace rdmapulse::verbs {
namespace {

constexpr int kReadings = 3;

Result<void> PollPlain(ibv_cq& cq, const std::string& device, std::vector<FoundCompletion>& found) {
  std::array<ibv_wc, 16> batch{};
  int count = 0;
  while ((count = ibv_poll_cq(&cq, static_cast<int>(batch.size()), batch.data())) > 0) {
    for (int i = 0; i < count; ++i) found.push_back({.wc = batch[static_cast<std::size_t>(i)]});
  }
  if (count < 0) return Fail({"ibv_poll_cq on ", device, " failed"});
  return {};
}

FoundCompletion ReadCurrent(ibv_cq_ex& cq) {
  FoundCompletion found;
  found.wc.wr_id = cq.wr_id;
  found.wc.status = cq.status;
  if (cq.status != IBV_WC_SUCCESS) {  // nothing else is valid then
    found.wc.vendor_err = ibv_wc_read_vendor_err(&cq);
    return found;
  }
  found.wc.byte_len = ibv_wc_read_byte_len(&cq);
  found.wc.src_qp = ibv_wc_read_src_qp(&cq);
  found.cycles = ibv_wc_read_completion_ts(&cq);
  return found;
}

Result<void> PollStamped(ibv_cq_ex& cq, const std::string& device,
                         std::vector<FoundCompletion>& found) {
  ibv_poll_cq_attr attr{};
  int rc = ibv_start_poll(&cq, &attr);
  if (rc == ENOENT) return {};  // it is empty, and there is no poll to be ended
  if (rc != 0) return CheckVerb(rc, {"ibv_start_poll on ", device});
  do {
    found.push_back(ReadCurrent(cq));
    rc = ibv_next_poll(&cq);
  } while (rc == 0);
  ibv_end_poll(&cq);
  return rc == ENOENT ? Result<void>{} : CheckVerb(rc, {"ibv_next_poll on ", device});
}

}  // namespace

std::optional<NicClockReading> ReadNicClock(ibv_context& context) {
  std::optional<NicClockReading> narrowest;
  for (int i = 0; i < kReadings; ++i) {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    const TimePoint before = Clock::now();
    const int rc = ibv_query_rt_values_ex(&context, &values);
    const TimePoint after = Clock::now();
    if (rc != 0 || (values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) == 0) return std::nullopt;
    // A count, which the drivers put where nanoseconds would be.
    const auto cycles = static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
    if (!narrowest || after - before < narrowest->after - narrowest->before) {
      narrowest = {.cycles = cycles, .before = before, .after = after};
    }
  }
  return narrowest;
}

Result<CompletionQueue> CreateCq(ibv_context& context, std::uint32_t depth,
                                 ibv_comp_channel& channel, bool stamps_wanted,
                                 const std::string& device) {
  CompletionQueue queue;
  if (stamps_wanted) {
    ibv_cq_init_attr_ex init{};
    init.cqe = depth;
    init.channel = &channel;
    init.wc_flags =
        IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    if (ibv_cq_ex* const stamped = ibv_create_cq_ex(&context, &init); stamped != nullptr) {
      queue.cq.reset(ibv_cq_ex_to_cq(stamped));
      queue.stamped = true;
      return queue;
    }
    // Whatever its reason was: the plain one works, or says what is wrong.
  }
  queue.cq.reset(ibv_create_cq(&context, static_cast<int>(depth), nullptr, &channel, 0));
  if (queue.cq == nullptr) {
    const int code = errno;
    return Fail(code, {"ibv_create_cq of ", std::to_string(depth), " on ", device},
                code == ENOMEM ? kMemlockAdvice : std::string_view());
  }
  return queue;
}

Result<void> PollCq(const CompletionQueue& queue, const std::string& device,
                    std::vector<FoundCompletion>& found) {
  if (!queue.stamped) return PollPlain(*queue.cq, device, found);
  // The extended queue begins with the plain one (verbs.h, ibv_cq_ex_to_cq).
  return PollStamped(*reinterpret_cast<ibv_cq_ex*>(queue.cq.get()), device, found);
}

}  // namespace rdmapulse::verbs
