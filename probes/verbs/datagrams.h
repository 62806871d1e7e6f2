// The loop's side of a device's datagrams: one UD QP a port, and what each of its RC QPs has beside
// it: ways to the peer, the token that the peer must name, and what was asked and not answered yet.
// Whoever's packet names no token of ours, or comes from another QP than the peer's, is not heard;
// an answer goes to the address that the control session told. Loop thread only.
//
// Work here has numbers of its own, with the highest bit set: see IsDatagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "probes/token_bucket.h"
#include "probes/transport.h"
#include "probes/verbs/ud_qp.h"

namespace rdmapulse::verbs {

// To be destroyed off the loop. Bottom up: a QP may still be sending by a way.
struct RetiredDatagrams {
  std::vector<Ah> ways;
  std::vector<UdQp> qps;
};

class Datagrams {
 public:
  struct Handlers {
    std::function<void(const probes::Completion&)> completed;  // what could not be sent
    std::function<void(const probes::EchoReply&)> echoed;
    std::function<void(const std::string&)> journal;
    std::function<void(RetiredDatagrams)> retire;
  };

  Datagrams(std::string device, Handlers handlers)
      : device_(std::move(device)), handlers_(std::move(handlers)) {}

  // Numbers for the receives of a UD QP that is to be made (UdPlace::first_receive).
  std::uint64_t ReserveReceives();
  void AddPort(std::uint32_t port, UdQp qp);
  // With what its peers had of it: they are heard again once their QPs are connected anew.
  RetiredDatagrams RemovePort(std::uint32_t port);
  // No port is left.
  RetiredDatagrams Clear();
  bool Has(std::uint32_t port) const { return ports_.contains(port); }
  // Its UD QP has failed, or a receive of it could not be posted: it is to be made anew.
  bool IsBroken(std::uint32_t port) const;

  // What the endpoint says of datagrams; nothing where the port has no UD QP.
  void Describe(probes::QpEndpoint& here) const;
  // The endpoint's UD QP is still the port's.
  bool Serves(const probes::QpEndpoint& here) const;
  // The QP is connected to `there`. `sports`: of each way, 0: unknown.
  void Connect(probes::QpId id, const probes::QpEndpoint& here, const probes::QpEndpoint& there,
               std::vector<Ah> ways, std::vector<std::uint16_t> sports);
  // Ways that nothing is on its way by any more; the others are retired when that is so.
  RetiredDatagrams Disconnect(probes::QpId id);
  // See probes::Transport::PostDatagram.
  Result<std::uint16_t> Ask(probes::QpId id, std::uint32_t way, std::uint64_t probe);
  bool Waiting() const { return !peers_.empty(); }

  static bool IsDatagram(std::uint64_t wr_id) { return (wr_id & kMark) != 0; }
  void Deliver(const ibv_wc& wc, const probes::CompletionTime& time);

 private:
  static constexpr std::uint64_t kMark = std::uint64_t{1} << 63U;

  struct Port {
    UdQp qp;
    std::vector<std::size_t> free_sends;
    bool broken = false;
    bool told_of_garbage = false;
  };
  struct Asked {
    std::uint64_t number = 0;
    std::uint64_t probe = 0;
  };
  struct Peer {
    std::uint32_t port = 0;
    std::uint64_t token = 0;  // ours
    probes::QpEndpoint there;
    std::vector<Ah> ways;
    std::vector<std::uint16_t> sports;
    std::deque<Asked> asked;
    probes::TokenBucket answers;
  };
  struct Receive {
    std::uint32_t port = 0;
    std::size_t receive = 0;
  };
  struct Send {
    std::uint32_t port = 0;
    std::size_t slot = 0;
    probes::QpId qp = 0;
    std::optional<std::uint64_t> probe{};  // none: an answer
  };

  Result<void> Post(probes::QpId id, const Peer& peer, std::uint32_t way,
                    const probes::EchoMessage& echo, std::optional<std::uint64_t> probe);
  void OnReceived(const Receive& receive, const ibv_wc& wc, const probes::CompletionTime& time);
  void OnSent(const Send& send, const ibv_wc& wc, const probes::CompletionTime& time);
  void OnDatagram(std::uint32_t port, std::uint32_t source_qpn, const probes::Datagram& datagram,
                  const probes::CompletionTime& time);
  void Answer(probes::QpId id, Peer& peer, const probes::Datagram& question,
              const probes::CompletionTime& time);
  void OnAnswer(Peer& peer, const probes::EchoMessage& echo, const probes::CompletionTime& time);
  void Break(std::uint32_t port, const std::string& why);
  bool IsSending(probes::QpId id) const;

  const std::string device_;
  const Handlers handlers_;
  std::map<std::uint32_t, Port> ports_;
  std::map<probes::QpId, Peer> peers_;
  std::map<std::uint64_t, probes::QpId> tokens_;
  std::map<std::uint64_t, Receive> receives_;  // posted, by wr_id
  std::map<std::uint64_t, Send> sends_;        // on their way, by wr_id
  std::map<probes::QpId, std::vector<Ah>> parting_;
  std::uint64_t last_number_ = 0;
};

}  // namespace rdmapulse::verbs
