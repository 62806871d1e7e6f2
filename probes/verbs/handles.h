// libibverbs' objects as owners, and its four error conventions in one place (rdma-core man pages):
//   NULL and errno        open_device, alloc_pd, reg_mr, create_cq, create_qp, create_comp_channel,
//                         create_ah
//   0 or the errno value  modify_qp, query_port, post_send, req_notify_cq, dereg_mr, destroy_*
//   0 or -1 and errno     query_gid, get_cq_event, get_async_event, close_device
//   count or negative     poll_cq
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::verbs {

// A destroy call can fail (a device that vanished) and there is nobody to hand the error to: the
// kernel frees what is left when the context is closed.
template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const noexcept {
    kDestroy(handle);
  }
};

struct FreeBytes {
  void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
};

using Context = std::unique_ptr<ibv_context, Destroy<&ibv_close_device>>;
using Pd = std::unique_ptr<ibv_pd, Destroy<&ibv_dealloc_pd>>;
using CompChannel = std::unique_ptr<ibv_comp_channel, Destroy<&ibv_destroy_comp_channel>>;
using Mr = std::unique_ptr<ibv_mr, Destroy<&ibv_dereg_mr>>;
using Cq = std::unique_ptr<ibv_cq, Destroy<&ibv_destroy_cq>>;
using Qp = std::unique_ptr<ibv_qp, Destroy<&ibv_destroy_qp>>;
using Ah = std::unique_ptr<ibv_ah, Destroy<&ibv_destroy_ah>>;

// Memory that is locked for RDMA counts against a limit that is low by default.
inline constexpr std::string_view kMemlockAdvice =
    "the locked-memory limit is too low: raise LimitMEMLOCK in the unit, or ulimit -l";
inline std::string_view MemlockAdvice(int code) {
  return code == ENOMEM || code == EPERM ? kMemlockAdvice : std::string_view();
}

// What an int-returning verb said, in either of its conventions. Some providers return -errno.
inline Result<void> CheckVerb(int rc, std::initializer_list<std::string_view> doing) {
  if (rc == 0) return {};
  return Fail(rc == -1 ? errno : std::abs(rc), doing);
}

}  // namespace rdmapulse::verbs
