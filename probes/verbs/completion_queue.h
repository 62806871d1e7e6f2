// A completion queue whose completions bear the NIC's time where its driver can say it
// (ibv_create_cq_ex(3)), and what is found in it. Made off the loop, polled on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "probes/verbs/handles.h"
#include "probes/verbs/nic_clock.h"

namespace rdmapulse::verbs {

// Of `wc`, what a NIC's time stamps leave room for is filled in: wr_id, status, vendor_err,
// byte_len and src_qp.
struct FoundCompletion {
  ibv_wc wc{};
  std::optional<std::uint64_t> cycles{};  // the NIC's clock
};

struct CompletionQueue {
  Cq cq;
  bool stamped = false;
};

// Its clock now, the narrowest of some readings; nullopt where it has none that can be read. May
// take a call of the driver.
std::optional<NicClockReading> ReadNicClock(ibv_context& context);

// Stamped if that is wanted and the driver can; fails as ibv_create_cq does.
Result<CompletionQueue> CreateCq(ibv_context& context, std::uint32_t depth,
                                 ibv_comp_channel& channel, bool stamps_wanted,
                                 const std::string& device);

// All that is in it, behind what `found` has.
Result<void> PollCq(const CompletionQueue& queue, const std::string& device,
                    std::vector<FoundCompletion>& found);

}  // namespace rdmapulse::verbs
