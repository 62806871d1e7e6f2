// What tests/fakes/ibverbs knows: devices, the objects that are open on them, and the fabric that
// joins them. One lock over all of it; hooks run without it. Private to the fake.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "tests/fakes/ibverbs.h"

namespace rdmapulse::fakes {

struct FakeDevice {
  ibv_device ibv{};
  std::string name;
  std::map<std::uint32_t, FakePort> ports;
  // port, GID index → which life of that entry: a QP holds the entry, not the address.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lives;
  ibv_atomic_cap atomic_cap = IBV_ATOMIC_HCA;
  int rd_atomics = 16;
  std::optional<FakeNicClock> clock;
  bool gone = false;

  std::uint64_t Cycles(std::chrono::milliseconds ago = {}) const;  // of its clock
};

struct FakeContext {
  verbs_context verbs{};
  FakeDevice* device = nullptr;
  bool dead = false;  // its device vanished; a device that returns is another one
  UniqueFd async;     // one count an event
  std::deque<ibv_async_event> events;
};

struct FakePd {
  ibv_pd ibv{};
  FakeContext* context = nullptr;
};

struct FakeMr {
  ibv_mr ibv{};
  FakeContext* context = nullptr;
  unsigned access = 0;
};

struct FakeCq;

struct FakeChannel {
  ibv_comp_channel ibv{};
  FakeContext* context = nullptr;
  UniqueFd fd;  // one count an event
  std::deque<FakeCq*> events;
  // When all are answered for, `fd` is a timer for the first of these: when, and which QP's work.
  std::deque<std::pair<std::chrono::steady_clock::time_point, const void*>> answers;
};

struct FakeCompletion {
  ibv_wc wc{};
  std::uint64_t cycles = 0;  // of the device's clock, if it has one
};

// Every one is an extended one, whose beginning is the plain one; `stamped` ones are polled as
// such, and only they.
struct FakeCq {
  ibv_cq_ex extended{};
  ibv_cq& ibv = *ibv_cq_ex_to_cq(&extended);
  bool stamped = false;
  std::uint64_t fields = 0;  // of ibv_create_cq_wc_flags: what may be read
  std::optional<FakeCompletion> polled;
  FakeContext* context = nullptr;
  FakeChannel* channel = nullptr;
  std::deque<FakeCompletion> completions;
  bool armed = false;
  unsigned unacknowledged = 0;
};

struct FakeAh {
  ibv_ah ibv{};
  FakeContext* context = nullptr;
  ibv_ah_attr attr{};
  std::uint64_t gid_life = 0;
};

struct FakeWork {
  std::uint64_t wr_id = 0;
  ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
  ibv_sge local{};  // length 0: no buffer
  std::uint64_t remote_addr = 0;
  std::uint32_t rkey = 0;
  std::uint64_t add = 0;  // of an atomic
  // Of a datagram.
  const void* ah = nullptr;
  std::uint32_t remote_qpn = 0;
  std::uint32_t remote_qkey = 0;
};

struct FakeDatagram {
  Gid to{};
  std::uint16_t lid = 0;  // InfiniBand
  std::uint32_t qpn = 0;
  std::uint32_t qkey = 0;
  std::uint32_t source_qpn = 0;
  std::vector<std::byte> bytes{};
};

struct FakeReceive {
  std::uint64_t wr_id = 0;
  std::vector<ibv_sge> local{};  // filled one after the other
};

// Of either kind: ibv.qp_type tells.
struct FakeRcQp {
  ibv_qp ibv{};
  FakeContext* context = nullptr;
  ibv_qp_cap cap{};
  ibv_qp_state state = IBV_QPS_RESET;
  ibv_qp_attr attr{};           // as modified so far
  Gid local_gid;                // at RTR
  std::uint64_t gid_life = 0;   // at RTR
  std::deque<FakeWork> posted;  // withheld
  std::deque<FakeReceive> receives;
  bool joined = false;  // by JoinQps: iWARP
};

struct FakeCall {
  std::string verb;
  bool creating = false;  // FailVerb counts it
  FakeDevice* device = nullptr;
  const FakeContext* context = nullptr;  // none yet: ibv_open_device
};

// The objects of one kind, found by the handle that libibverbs' user has. A handle that is not
// there was never made or is already given back.
template <typename T>
using Handles = std::map<const void*, std::unique_ptr<T>>;

class Ibverbs::Model {
 public:
  Model() = default;

  // What stands before every verb: hooks, holds, faults. The errno to fail with, or 0. `lock` is
  // held before and after, not within.
  int Enter(std::unique_lock<std::mutex>& lock, const FakeCall& call);
  void Note(std::string misuse) { misuse_list.push_back(std::move(misuse)); }

  FakeDevice& Find(const std::string& name);
  FakeRcQp* FindQp(const std::string& device, std::uint32_t qpn) const;
  void Vanish(FakeDevice& device);
  void Raise(FakeContext& context, const ibv_async_event& event);

  // The transitions of ibv_modify_qp(3) for RC: 0 or EINVAL, ETIMEDOUT when nobody has the address.
  int Modify(FakeRcQp& qp, const ibv_qp_attr& attr, int mask);
  void MoveToError(FakeRcQp& qp);
  int Post(FakeRcQp& qp, const ibv_send_wr& request);
  int PostReceive(FakeRcQp& qp, const ibv_recv_wr& request);
  // On the wire: it arrives, or is never heard of again.
  void Carry(const FakeDatagram& datagram);
  void DeliverAll();
  // Completes what has become due on this channel, when all are answered for.
  void AnswerDue(FakeChannel& channel);
  int Poll(FakeCq& cq, int max, ibv_wc* out);
  bool TakeNext(FakeCq& cq);  // into `polled`

  std::mutex mutex;
  std::condition_variable changed;

  std::map<std::string, std::unique_ptr<FakeDevice>> devices;
  Handles<std::vector<ibv_device*>> lists;
  Handles<FakeContext> contexts;
  Handles<FakePd> pds;
  Handles<FakeMr> mrs;
  Handles<FakeChannel> channels;
  Handles<FakeCq> cqs;
  Handles<FakeRcQp> qps;
  Handles<FakeAh> ahs;
  std::map<const void*, int> unacknowledged_events;  // of a CQ or QP
  std::uint32_t last_key = 0x1000;
  std::uint64_t last_life = 0;
  std::uint32_t last_psn = 0;

  int fail_at = 0;  // 0: none
  int fail_code = 0;
  std::string fail_verb;  // empty: any that counts
  int fail_verb_seen = 0;
  int vanish_in = 0;  // calls left; 0: none
  std::string vanish_device;
  std::string faulty_verb;
  int seen = 0;
  std::map<std::string, int> calls;
  std::map<std::string, std::function<void()>> before;
  std::map<std::string, std::string> held;  // verb → device, empty: any
  std::map<std::string, int> waiting;

  bool withhold = false;
  int drop_datagrams = 0;
  int garble_in = 0;  // SENDs left; 0: none
  std::size_t garble_at = 0;
  std::optional<std::chrono::microseconds> answer_after;
  std::optional<ibv_wc_status> next_status;
  std::vector<std::string> misuse_list;

 private:
  bool IsHeld(const FakeCall& call) const;
  bool FaultDue(const std::string& verb, bool creating);
  int CheckAddress(const FakeRcQp& qp, const ibv_ah_attr& address, ibv_mtu path_mtu);
  int ModifyUd(FakeRcQp& qp, const ibv_qp_attr& attr, int mask);
  ibv_wc_status SendDatagram(const FakeRcQp& qp, const FakeWork& work);
  // Where so many bytes that arrive are put; what the receive has no room for is left out.
  bool Scatter(const ibv_pd* pd, const FakeReceive& receive, const std::vector<std::byte>& bytes);
  int CheckWork(const FakeRcQp& qp, const FakeWork& work);
  void Execute(FakeRcQp& qp, const FakeWork& work);
  ibv_wc_status Deliver(const FakeRcQp& qp, const FakeWork& work);
  ibv_wc_status Receive(const FakeRcQp& qp, FakeRcQp& peer, const FakeWork& work);
  ibv_wc_status Transfer(const FakeRcQp& qp, const FakeRcQp& peer, const FakeWork& work);
  bool LocalAlive(const FakeRcQp& qp) const;
  const FakeMr* FindMr(const ibv_pd* pd, std::uint32_t lkey) const;
  FakeRcQp* FindPeer(const FakeRcQp& qp) const;
  void Complete(FakeRcQp& qp, std::uint64_t wr_id, ibv_wc_status status);
  void Complete(FakeRcQp& qp, ibv_cq* handle, ibv_wc wc);
};

// The port's entry at this index; nullptr: there is none.
const probes::GidEntry* GidAt(const FakePort& port, std::uint32_t index);

bool Covers(const FakeMr& mr, std::uint64_t address, std::uint32_t length);
// An address that the region covers, as memory.
std::byte* BytesAt(const FakeMr& mr, std::uint64_t address);

// The library of the process; ends it with a sentence when there is none.
Ibverbs::Model& TheModel();

// Puts the verbs in that a device's users find through its context.
void FillClock(verbs_context& verbs);
void FillTraffic(ibv_context_ops& ops);

using Lock = std::unique_lock<std::mutex>;

template <typename T>
T* Known(Ibverbs::Model& model, const Handles<T>& handles, const void* handle,
         const std::string& verb) {
  const auto found = handles.find(handle);
  if (found != handles.end()) return found->second.get();
  model.Note(verb + " on a handle that is not open");
  return nullptr;
}

inline FakeCall On(FakeContext& context, std::string verb, bool creating = false) {
  return {std::move(verb), creating, context.device, &context};
}

}  // namespace rdmapulse::fakes
