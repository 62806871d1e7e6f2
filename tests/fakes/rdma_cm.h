// The kernel's connection manager for tests without RDMA: reads the commands of rdma/rdma_user_cm.h
// as the kernel does and joins the QPs of tests/fakes/ibverbs. Hosts of one process reach each
// other by the addresses that their netdevs were given; TCP takes no time.
//
// What the kernel would let pass and should not happen (a QP that is not there, an event for
// nobody, an identifier that is used after its end) is noted in Misuse. Any thread.
#pragma once

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

  // The netdev's addresses, and the device that is on it; takes effect at the next look.
  void SetAddresses(const std::string& netdev, const std::string& device, std::uint64_t guid,
                    const std::vector<std::string>& addresses);
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

 private:
  struct Place {
    std::string device;
    std::uint64_t guid = 0;
    std::vector<Gid> addresses;
  };
  struct Event {
    std::uint64_t owner = 0;
    std::uint32_t id = 0;
    verbs::CmEventType type = verbs::CmEventType::kAddressError;
    int error = 0;
    std::vector<std::byte> data;
  };
  struct Id {
    std::shared_ptr<UniqueFd> wake;  // the kernel's end of the descriptor that made it
    std::uint64_t owner = 0;
    std::string device;
    std::uint64_t guid = 0;
    verbs::CmAddress here;
    verbs::CmAddress there;
    bool listens = false;
    std::uint32_t qpn = 0;
    std::uint32_t peer = 0;  // the other end's identifier
    bool established = false;
  };
  struct Channel {
    std::shared_ptr<UniqueFd> wake;
    std::vector<Event> events;
  };

  int Command(int fd, std::uint32_t number, std::span<const std::byte> payload);
  int Connect(Id& id, std::uint32_t number, std::uint32_t qpn, std::vector<std::byte> data);
  int Accept(std::uint32_t number, std::uint64_t owner, std::uint32_t qpn);
  int Request(const verbs::CmAddress& to, std::uint32_t peer, std::vector<std::byte> data);
  int ResolveAddress(std::span<const std::byte> payload);
  int Query(std::span<const std::byte> payload);
  int Bind(Id& id, const verbs::CmAddress& here);
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
  std::uint32_t last_id_ = 0;  // as the kernel's, which begin at 0, plus one
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
