// The kernel's connection manager for tests without RDMA: reads the commands of rdma/rdma_user_cm.h
// as the kernel does. iWARP's QPs it joins in tests/fakes/ibverbs; of the others it says how they
// are to be moved, as Linux 6.1 does. Hosts of one process reach each other by the addresses that
// their netdevs were given; nothing takes time.
//
// What the kernel would let pass and should not happen (a QP that is not there or that the peer may
// send to too early, an event for nobody, an identifier that is used after its end) is noted in
// Misuse. Any thread.
#pragma once

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "probes/verbs/cm.h"
#include "tests/fakes/ibverbs.h"

namespace rdmapulse::fakes {

class RdmaCm final : public verbs::CmHost {
 public:
  void Attach(Ibverbs& verbs) { verbs_ = &verbs; }  // before anything connects

  enum class Manner { kIwarp, kRoce, kInfiniband };
  // The netdev's addresses, and the device whose first port is on it; takes effect at the next
  // look.
  void SetAddresses(const std::string& netdev, const std::string& device, std::uint64_t guid,
                    const std::vector<std::string>& addresses, Manner manner = Manner::kIwarp);
  // What the subnet manager gives all paths.
  void SetServiceLevel(std::uint8_t service_level) { service_level_ = service_level; }
  // All of the device's identifiers are told that it goes away.
  void RemoveDevice(const std::string& device);
  // The TCP connection of the device's identifiers ends, as by a reset.
  void Disconnect(const std::string& device);

  // The n-th command from now on that makes or moves something (from 1) fails with this errno.
  void FailCommand(int n, int code);
  bool FaultFired() const {
    const std::lock_guard lock(mutex_);
    return fired_;
  }
  // Such commands since the last FailCommand, or since the start.
  int CommandsSeen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  // From now on nobody answers at this stage: no ARP, no SYN answered, no reply to the request.
  // But for iWARP the last two are one.
  enum class Silence { kNone, kAddress, kSyn, kReply };
  void SetSilence(Silence silence);
  // Someone who is no daemon of ours dials: the private data as given. False: nobody listens.
  bool DialAs(const verbs::CmAddress& to, const std::vector<std::byte>& private_data);
  int Rejections() const;
  std::uint8_t TrafficClassOf(const std::string& device) const;  // as last set

  // What was not given back on descriptors that are still open, each as "cm id of fake_0", and the
  // open descriptors.
  std::vector<std::string> LiveObjects() const;
  std::vector<std::string> Misuse() const;

  Result<UniqueFd> Open(const std::string& path) override;
  int Run(int fd, std::span<const std::byte> command) override;
  Result<std::vector<Gid>> Addresses(const std::string& netdev) override;
  Result<std::vector<Gid>> InfinibandAddresses(const Gid& port) override;

 private:
  static constexpr std::uint32_t kPort = 1;  // of every device

  // kAsked and kAnswering: the passive end, until it hears of the active one's confirmation.
  enum class State {
    kIdle,
    kBound,
    kListening,
    kAddressResolved,
    kRouteResolved,
    kAsking,
    kAnswered,
    kAsked,
    kAnswering,
    kEstablished,
    kEnded
  };
  struct Place {
    std::string device;
    std::uint64_t guid = 0;
    std::vector<Gid> addresses;
    Manner manner = Manner::kIwarp;
  };
  struct Event {
    std::uint64_t owner = 0;
    std::uint32_t id = 0;
    verbs::CmEventType type = verbs::CmEventType::kAddressError;
    int error = 0;  // negative: a reason, which the kernel does not turn round
    std::vector<std::byte> data;
  };
  struct Id {
    std::shared_ptr<UniqueFd> wake;  // the kernel's end of the descriptor that made it
    std::uint64_t owner = 0;
    std::string device;
    std::uint64_t guid = 0;
    verbs::CmAddress here;
    verbs::CmAddress there;
    Manner manner = Manner::kIwarp;
    State state = State::kIdle;
    std::uint8_t traffic_class = 0;
    std::uint32_t qpn = 0;
    std::uint32_t psn = 0;   // at which the peer begins
    std::uint32_t peer = 0;  // the other end's identifier
  };
  struct Channel {
    std::shared_ptr<UniqueFd> wake;
    std::vector<Event> events;
  };

  int Command(int fd, std::uint32_t number, std::span<const std::byte> payload);
  int Connect(Id& id, std::uint32_t number, std::vector<std::byte> data);
  int Accept(Id& id, const rdma_ucm_accept& command);
  int Request(const verbs::CmAddress& to, std::uint32_t peer, std::vector<std::byte> data);
  int ResolveAddress(std::span<const std::byte> payload);
  int Query(std::span<const std::byte> payload);
  int Bind(Id& id, const verbs::CmAddress& here);
  int ConnectIb(Id& id, std::uint32_t number, const rdma_ucm_conn_param& parameters);
  int AcceptIb(Id& id, const rdma_ucm_accept& command);
  int ConfirmIb(Id& id);
  void EndIb(const Id& id);
  int InitQpAttributes(std::span<const std::byte> payload);
  void FillAddress(const Id& id, const Id& peer, ib_uverbs_ah_attr& to) const;
  void CheckInRts(const Id& id, const std::string& doing);
  Id* PeerOf(const Id& id);
  static bool HungUp(const UniqueFd& wake);
  int TakeEvent(Channel& channel, int fd, std::uint64_t response);
  void Tell(const Id& id, Event event);
  void End(std::uint32_t number);
  void Note(std::string misuse) { misuse_.push_back(std::move(misuse)); }
  bool FaultDue();

  Ibverbs* verbs_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::string, Place> places_;  // by netdev
  std::map<int, Channel> channels_;
  std::map<std::uint32_t, Id> ids_;
  std::map<std::string, std::uint8_t> traffic_classes_;
  std::uint32_t last_id_ = 0;  // as the kernel's, which begin at 0
  std::uint32_t last_psn_ = 0x100;
  std::uint8_t service_level_ = 3;
  std::uint16_t last_port_ = 40000;
  Silence silence_ = Silence::kNone;
  int fail_at_ = 0;
  int fail_code_ = 0;
  bool fired_ = false;
  int seen_ = 0;
  int rejections_ = 0;
  std::vector<std::string> misuse_;
};

}  // namespace rdmapulse::fakes
