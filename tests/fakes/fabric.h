// Hosts with RC-capable ports on a fabric whose clock the test moves: what probes/verbs and
// daemon/peers do on real devices, in microseconds and always the same.
//
// A message follows the reliable connection's rules: lost requests are sent again every ACK timeout
// and counted, retry_cnt + 1 tries end in "transport retry exceeded"; a message that is held is
// late and nothing is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "probes/peer_link.h"
#include "probes/prober.h"
#include "probes/transport.h"

namespace rdmapulse::fakes {

// What the fabric does to one try of a message, asked at the time of that try.
enum class Fate { kDelivered, kLost, kHeld };

class Fabric {
 public:
  struct Message {
    std::string from, to;
    std::uint8_t traffic_class = 0;
    std::uint16_t sport = 0;
    probes::Op op = probes::Op::kWrite0;
  };

  class Host : public probes::Transport, public probes::PeerLink {
   public:
    Host(Fabric& fabric, std::string name);

    const std::string& name() const { return name_; }
    probes::Prober& prober() { return *prober_; }

    // --- what a test does to a host
    void SetPort(const probes::TransportPort& port);  // adds or changes; QPs of the port die
    void StartProber(const probes::Settings& settings);
    std::uint64_t retransmits(const PortId& port) const;
    std::size_t qps() const { return qps_.size(); }
    // What this host says of its end of a QP, changed before the peer learns of it: an older
    // version.
    std::function<void(probes::QpEndpoint&)> offers;
    // The next n calls of Open / Connect fail with this errno.
    void FailOpen(int times, int code) { fail_open_ = {times, code}; }
    void FailConnect(int times, int code) { fail_connect_ = {times, code}; }
    // Whether a datagram's way decides about its source port, as on mlx5 and not on rxe.
    bool heeds_flow_label = true;
    // The next n datagrams cannot be sent.
    int fail_datagrams = 0;
    Duration loop_late{};
    // Its NIC stamps completions, which lie this long before they are found.
    std::optional<Duration> unfound_for{};
    // What its daemon takes to answer an echo; none: it is stopped, and answers when it goes on.
    std::optional<Duration> responder = std::chrono::microseconds(5);
    std::vector<std::string> journal;
    std::function<void(const probes::ProbeNews&)> news;

    // --- Transport
    void SetHandlers(Handlers handlers) override { handlers_ = std::move(handlers); }
    std::vector<probes::TransportPort> Ports() const override;
    void Open(const PortId& port, const Gid& towards, const probes::QpAttributes& attributes,
              Opened opened) override;
    void Connect(probes::QpId qp, const probes::QpEndpoint& remote,
                 Transport::Connected connected) override;
    Result<void> Post(probes::QpId qp, probes::Op op, std::uint64_t probe) override;
    Result<std::uint16_t> PostDatagram(probes::QpId qp, std::uint32_t way,
                                       std::uint64_t probe) override;
    void Poll() override {}  // its clock stands still while somebody posts
    void Close(probes::QpId qp) override { qps_.erase(qp); }

    // --- PeerLink
    void RequestConnect(const std::string& peer, const probes::ConnectRequest& request,
                        PeerLink::Connected connected) override;
    void TellReady(const std::string& peer, const probes::PathRef& path) override;
    void TellLost(const std::string& peer, const probes::PathRef& path,
                  const std::string& why) override;

   private:
    friend class Fabric;
    struct Qp {
      probes::QpEndpoint here;
      probes::QpEndpoint there;
      probes::QpAttributes attributes;
      bool connected = false;
    };
    struct Try {
      probes::QpId qp = 0;
      std::uint64_t probe = 0;
      probes::Op op = probes::Op::kWrite0;
      int number = 0;
    };
    void Attempt(const Try& attempt);
    void Complete(const Try& attempt, int status);
    void AwaitAnswer(const Try& attempt);
    void CarryDatagram(const Try& attempt, std::uint16_t sport);

    Fabric& fabric_;
    std::string name_;
    Handlers handlers_;
    std::map<PortId, probes::TransportPort> ports_;
    std::map<PortId, std::uint64_t> retransmits_;
    std::map<probes::QpId, Qp> qps_;
    std::pair<int, int> fail_open_{0, 0}, fail_connect_{0, 0};
    std::uint64_t epoch_ = 1;
    std::vector<probes::PeerPort> offered_;
    std::unique_ptr<probes::Prober> prober_;
  };

  Host& AddHost(const std::string& name);
  Host& host(const std::string& name) { return *hosts_.at(name); }

  TimePoint now() const { return now_; }
  void Advance(Duration duration);  // runs everything that is due on the way, in order of time

  // The control session of two hosts; both are told.
  void ConnectSession(const std::string& a, const std::string& b);
  void CutSession(const std::string& a, const std::string& b);
  // A host whose daemon starts anew: no QPs, no paths, a new epoch; sessions are cut.
  Host& Restart(const std::string& name);

  std::function<Fate(const Message&)> fate = [](const Message&) { return Fate::kDelivered; };
  Duration rtt = std::chrono::microseconds(10);

 private:
  void At(TimePoint time, std::function<void()> what);
  bool HasSession(const std::string& a, const std::string& b) const;
  void TellPeer(Host& host, const Host& peer);
  Host* FindByGid(const Gid& gid, std::uint32_t qpn, Host::Qp** qp);

  TimePoint now_ = TimePoint(std::chrono::seconds(1000));
  std::uint64_t sequence_ = 0;
  std::map<std::pair<TimePoint, std::uint64_t>, std::function<void()>> events_;
  std::map<std::string, std::unique_ptr<Host>> hosts_;
  std::set<std::pair<std::string, std::string>> sessions_;
  std::uint64_t last_qp_ = 0;
};

// A usable RoCE v2 port "mlx5_0/1" with the address.
probes::TransportPort RocePort(const std::string& address, const std::string& device = "mlx5_0");
// Both classes as the configuration's defaults have them.
probes::Settings DefaultSettings(std::vector<std::string> peers);

}  // namespace rdmapulse::fakes
