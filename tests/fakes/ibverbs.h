// libibverbs for tests without RDMA: a library that a test links, whose definitions of the verbs
// win over -libverbs'. Devices of one process are joined by a fabric without delay: a WRITE or READ
// posted on a connected QP has completed when ibv_post_send returns, unless the test withholds it.
//
// As strict as a driver about states, attribute masks, limits and the order in which things are
// given back; as unhelpful about a device that vanished. What no driver could tell (a device closed
// under its QPs, a handle used after it was destroyed, an event that is never acknowledged) is
// noted in Misuse.
//
// Every function may be called from any thread.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"
#include "probes/gid_choice.h"

namespace rdmapulse::fakes {

struct FakePort {
  std::uint32_t number = 1;
  bool active = true;
  LinkLayer link_layer = LinkLayer::kEthernet;
  ibv_mtu mtu = IBV_MTU_4096;
  std::uint16_t lid = 0;
  std::vector<probes::GidEntry> gids;
};

// A QP as its driver has it.
struct FakeQp {
  std::string device;
  std::uint32_t qpn = 0;
  ibv_qp_state state = IBV_QPS_RESET;
  std::uint32_t path_mtu_bytes = 0;
  bool has_grh = false;
  std::uint16_t lid = 0;  // of the peer
  std::uint8_t sl = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint32_t gid_index = 0;
  std::uint8_t timeout = 0;
  std::uint8_t retry_cnt = 0;
  unsigned access = 0;  // what the peer may do
};

struct FakeUdQp {
  std::string device;
  std::uint32_t qpn = 0;
  std::uint32_t qkey = 0;
  ibv_qp_state state = IBV_QPS_RESET;
  std::size_t receives = 0;
};

struct FakeAddressHandle {
  std::string device;
  Gid to;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint32_t gid_index = 0;
};

// A NIC's free-running clock, which stamps completions.
struct FakeNicClock {
  std::uint64_t kilohertz = 156'250;  // at which it says that it counts
  double drift = 0;                   // it counts faster by this part of it
  std::uint64_t start = 0;            // where it stands when it is set
  std::uint64_t mask = ~std::uint64_t{0};
  std::chrono::milliseconds lay{};  // completions bear a time so long ago, as if nobody had looked
  std::chrono::steady_clock::time_point set = std::chrono::steady_clock::now();
};

// The process's libibverbs while it lives; there is one at a time. Verbs are named as the man pages
// name them, "ibv_alloc_pd"; ibv_modify_qp with its target: "ibv_modify_qp to RTR".
class Ibverbs {
 public:
  class Model;

  Ibverbs();
  Ibverbs(const Ibverbs&) = delete;
  Ibverbs& operator=(const Ibverbs&) = delete;
  ~Ibverbs();

  // --- the hosts' devices
  void AddDevice(const std::string& name, const std::vector<FakePort>& ports);
  // Facts that are read from now on; raises nothing. A GID that stays where it was keeps the QPs
  // that use it, any other change kills them.
  void SetPort(const std::string& device, const FakePort& port);
  // Without it a device has them. Of how many READs and atomics a QP may have out, and may answer.
  void SetAtomics(const std::string& device, ibv_atomic_cap cap, int rd_atomics = 16);
  // Without it a device has no clock. Set again, it counts anew.
  void SetNicClock(const std::string& device, const FakeNicClock& clock);
  // All the port's GIDs are removed and added again where they were: their QPs are dead.
  void RenewGids(const std::string& device, std::uint32_t port);
  // Listed no more, every call on it fails, its descriptors stay readable; handles can be given
  // back.
  void Vanish(const std::string& device);
  // A device that vanished is listed again and can be opened anew.
  void Return(const std::string& device);

  // --- events
  void RaisePort(const std::string& device, std::uint32_t port, ibv_event_type type);
  void RaiseDevice(const std::string& device, ibv_event_type type);
  void RaiseCq(const std::string& device, ibv_event_type type);  // of its first CQ
  void RaiseQp(const std::string& device, ibv_event_type type);  // of its first QP

  // --- faults
  // The n-th creating or modifying verb from now on (from 1) fails with this errno.
  void FailVerb(int n, int code);
  // The n-th call of this verb from now on fails.
  void FailVerb(const std::string& verb, int n, int code);
  // The device vanishes inside the n-th call on it from now on, whichever it is.
  void VanishInCall(int n, const std::string& device);
  bool FaultFired() const;
  // The verb in which the last fault fired.
  std::string FaultyVerb() const;
  // Creating and modifying verbs seen since the last FailVerb, or since the start.
  int VerbsSeen() const;
  int CallsOf(const std::string& verb) const;

  // --- control over when
  // Called once, inside the next call of the verb, before it does anything.
  void Before(const std::string& verb, std::function<void()> what);
  // Calls of the verb, on this device if one is named, wait inside until Release.
  void Hold(const std::string& verb, const std::string& device = {});
  void Release(const std::string& verb);
  void ReleaseAll();
  int Waiting(const std::string& verb) const;

  // --- completions
  // Work that is posted stays outstanding until Deliver, or until its QP is gone.
  void WithholdCompletions();
  void DeliverCompletions();  // what is withheld, and from now on at once
  void CompleteNextWith(ibv_wc_status status);
  // What the device's QPs have posted to receive is used up, as if their owner no longer looked.
  void DropReceives(const std::string& device);
  // The next n datagrams are lost.
  void DropDatagrams(int n);
  // A datagram of nobody that this process knows, to the UD QP of whoever has the address.
  void SendDatagram(const std::string& address, std::uint32_t qpn, std::uint32_t qkey,
                    std::uint32_t source_qpn, const std::vector<std::uint8_t>& bytes);
  // The n-th SEND from now on (from 1) arrives with all bits of this byte turned over.
  void GarbleSend(int n, std::size_t at);
  // There is no second host: any address answers, and work completes well this long after it was
  // posted. For measuring what one end costs.
  void AnswerForAll(std::chrono::microseconds after);
  void MoveQpsToError(const std::string& device);  // their outstanding work is flushed

  // --- for tests/fakes/rdma_cm
  bool HasQp(const std::string& device, std::uint32_t qpn) const;
  ibv_qp_state StateOf(const std::string& device, std::uint32_t qpn) const;
  FakePort PortOf(const std::string& device, std::uint32_t number) const;
  // Both to RTS, connected to each other; false when one is not there or was connected before.
  bool JoinQps(const std::string& a, std::uint32_t a_qpn, const std::string& b,
               std::uint32_t b_qpn);
  void BreakQp(const std::string& device, std::uint32_t qpn);  // to ERR; its work is flushed

  // --- what is there
  std::vector<FakeQp> Qps() const;  // RC
  std::vector<FakeUdQp> UdQps() const;
  std::vector<FakeAddressHandle> AddressHandles() const;
  // What was not given back, each as "ibv_qp of fake_0".
  std::vector<std::string> LiveObjects() const;
  std::vector<std::string> Misuse() const;

 private:
  std::unique_ptr<Model> model_;
};

}  // namespace rdmapulse::fakes
