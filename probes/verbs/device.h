// The loop's side of one RDMA device: opens it, follows its events, makes and connects QPs, finds
// completions, and lets go of it when it is being removed. Loop thread only; what may block goes to
// the pool, and the device outlives every such job.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/blocking_pool.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "probes/echo_message.h"
#include "probes/gid_choice.h"
#include "probes/transport.h"
#include "probes/verbs/datagrams.h"
#include "probes/verbs/open_device.h"

namespace rdmapulse::verbs {

struct DeviceOptions {
  std::string dev_root = "/dev/infiniband";
  std::uint32_t qps_max = 256;  // of a port
  probes::GidFamily family = probes::GidFamily::kAny;
  bool datagrams = false;             // whether ports have UD QPs
  std::uint32_t looks = 0;            // see Device::SetLooks
  CmHost* cm_host = &KernelCmHost();  // outlives the device
  // Whether RoCE and InfiniBand ports are connected by the connection manager, as iWARP's always
  // are. A path needs it at both ends; where one has it off, the ends exchange what connects them.
  bool by_cm = false;
  // How long the end that dials waits until its QP is connected, and the other until it is dialled:
  // shorter than the peer's patience with a request (5 s).
  Duration connect_within = std::chrono::seconds(4);
};

class Device {
 public:
  enum class State { kOpening, kOpen, kClosing, kClosed };

  struct Handlers {
    std::function<void(const probes::Completion&)> completed;
    // QPs of the port are gone, or its facts are new.
    std::function<void(const PortId&, const std::string& why)> port_changed;
    std::function<void(const probes::EchoReply&)> echoed;
    std::function<void(const std::string&)> journal;
  };

  Device(boost::asio::io_context& loop, BlockingPool& pool, DeviceInfo info, DeviceOptions options,
         Handlers handlers);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  State state() const { return state_; }
  // Opens it; a failure is shown in Ports and tried again by the next call after 10 s.
  void Open(TimePoint now);
  // Everything is given back to the kernel, off the loop; QPs that are being made first come home.
  void Close(const std::string& why);
  // What discovery says now; a changed port is looked at again.
  void Update(const DeviceInfo& info, TimePoint now);
  void SetFamily(probes::GidFamily family);
  void SetDatagrams(bool on);
  // So often completion queues are looked at after something was posted, before the loop waits for
  // their event; 0: not at all. Whatever else is due has its turn between every few looks.
  void SetLooks(std::uint32_t looks) { options_.looks = looks; }
  // All its QPs go, and are made anew.
  void SetByCm(bool on);

  std::vector<probes::TransportPort> Ports() const;
  void OpenQp(probes::QpId id, const PortId& port, const Gid& towards,
              const probes::QpAttributes& attributes, probes::Transport::Opened opened);
  void ConnectQp(probes::QpId id, const probes::QpEndpoint& remote,
                 probes::Transport::Connected connected);
  Result<void> Post(probes::QpId id, probes::Op op, std::uint64_t probe);
  Result<std::uint16_t> PostDatagram(probes::QpId id, std::uint32_t way, std::uint64_t probe);
  void Poll();  // see probes::Transport::Poll
  std::uint16_t TcpSourcePort(probes::QpId id) const;
  void CloseQp(probes::QpId id);

 private:
  // Work whose completion is awaited.
  struct Posted {
    probes::QpId qp = 0;
    std::uint64_t probe = 0;
  };
  // Memory that waits for a message of the peer, or holds the answer to one.
  struct Receive {
    probes::QpId qp = 0;
    std::size_t slot = 0;
  };
  // What the pool has made for datagrams of a QP that it connected.
  struct Linked {
    std::vector<Ah> ways{};
    std::string no_ways{};  // why it could not
  };
  // How a QP is connected by the connection manager; see device_cm.cc.
  struct CmLink {
    // kUp: established, or so far that the peer was told so.
    enum class State { kIdle, kDialling, kAccepting, kUp, kBroken };
    State state = State::kIdle;
    bool used = false;         // always on iWARP; else once the ends have agreed on it
    bool established = false;  // said while a job was out
    std::optional<std::uint32_t> cm_id{};
    std::uint16_t source_port = 0;
    std::uint64_t peer_token = 0;            // 0: not known yet
    std::string problem{};                   // why it is broken
    Linked linked{};                         // until the peer's endpoint is known
    probes::Transport::Connected connected;  // who waits for it to be up
    // Until it is up; once it is broken, until what was posted has ended.
    std::unique_ptr<boost::asio::steady_timer> deadline;
  };
  struct QpEntry {
    RcQp qp;
    probes::GidEntry gid;
    probes::QpEndpoint here;
    probes::QpEndpoint there;
    probes::QpAttributes attributes;
    CmLink link;
    std::uint64_t first_receive = 0;  // wr_id; see QpPlace
    bool told_of_garbage = false;     // that the peer sent what is no echo
    int jobs = 0;                     // in which the pool works on it
    bool doomed = false;              // to be destroyed when it comes back
  };
  using QpMap = std::map<probes::QpId, QpEntry>;
  struct LinkStep {  // what a job for a link found out
    std::uint32_t cm_id = 0;
    std::uint16_t source_port = 0;
    Linked linked{};
    enum class Then { kWait, kAccept, kUp } then = Then::kWait;
  };

  using UdQps = std::map<std::uint32_t, Result<UdQp>>;  // by port
  struct UdWanted {
    std::uint32_t port = 0;
    bool lacking = false;  // it has none that works
    std::uint64_t first_receive = 0;
  };
  struct Made {
    OpenedDevice device;
    UdQps uds;
  };
  struct Read {
    std::vector<PortFacts> facts;
    UdQps uds;
  };

  // `work` in the pool, then `done` with its result on the loop. The device outlives its jobs.
  template <typename Work, typename Done>
  void RunJob(Work work, Done done) {
    ++jobs_;
    pool_.Run(std::move(work), [this, done = std::move(done)](auto result) mutable {
      --jobs_;
      done(std::move(result));
      FinishClose();
    });
  }
  void AfterOpen(Result<Made> made);
  void WatchCompletions();
  void WatchEvents();
  void OnCompletions();
  Result<void> FindCompletions(std::vector<FoundCompletion>& found);
  bool Awaits() const;
  void LookOn();
  void Look();
  void WatchClock();
  probes::CompletionTime TimeOf(const FoundCompletion& found, TimePoint handled) const;
  void DeliverAll(const std::vector<FoundCompletion>& found, TimePoint handled);
  void Deliver(const ibv_wc& wc, const probes::CompletionTime& time);
  void OnEvents();
  void OnEvent(const ibv_async_event& event);
  void MarkDirty(std::uint32_t port, const std::string& why);
  void Refresh();
  void AfterRefresh(Read read);
  void AfterCreate(probes::QpId id, const probes::Transport::Opened& opened, Result<RcQp> qp);
  void AfterConnect(probes::QpId id, const probes::Transport::Connected& connected,
                    Result<Linked> linked);
  void Forget(probes::QpId id);
  void Retire(QpEntry entry, RetiredDatagrams datagrams = {});
  void DropQps(std::uint32_t port);

  Result<void> PostEcho(const QpEntry& entry, std::uint64_t wr_id);
  void OnReceived(const Receive& receive, const ibv_wc& wc, const probes::CompletionTime& time);
  void Answer(const Receive& receive, const QpEntry& entry, std::uint64_t number,
              const probes::CompletionTime& time);
  void OnAnswer(probes::QpId id, const probes::EchoMessage& message,
                const probes::CompletionTime& time);
  void AwaitMessage(const Receive& receive);

  Datagrams::Handlers DatagramHandlers();
  std::vector<UdWanted> WantedUds();
  void TakeUds(UdQps&& uds);
  static Result<Linked> ConnectRc(const RtsRequest& request, bool datagrams, bool heeds_flow_label);
  static Linked MakeWays(const RtsRequest& request, const ibv_ah_attr& address,
                         bool heeds_flow_label);
  void LinkDatagrams(probes::QpId id, const QpEntry& entry, Linked linked);
  void RetireDatagrams(RetiredDatagrams datagrams);

  Cm ConnectionManager() const { return {*options_.cm_host, open_->cm.get()}; }
  void WatchCm();
  void OnCmEvents();
  void OnCmEvent(const CmEvent& event);
  void OnDialled(const CmEvent& event);
  void Refuse(std::uint32_t cm_id);
  static RtsRequest RequestOf(const QpEntry& entry) {
    return {entry.qp.qp.get(), entry.gid, entry.here, entry.there, entry.attributes};
  }
  bool IsByCm(const QpEntry& entry);
  void ConnectByCm(probes::QpId id, QpEntry& entry, probes::Transport::Connected connected);
  void Dial(probes::QpId id, QpEntry& entry);
  void FinishDialling(probes::QpId id, QpEntry& entry, std::uint32_t cm_id);
  void MoveAndConfirm(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id);
  void MoveAndAccept(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id);
  void Accept(probes::QpId id, const QpEntry& entry, std::uint32_t cm_id);
  template <typename Work>
  void RunLinkJob(probes::QpId id, Work work) {
    ++qps_.at(id).jobs;
    RunJob(std::move(work),
           [this, id](Result<LinkStep> step) { AfterLinkJob(id, std::move(step)); });
  }
  void AfterLinkJob(probes::QpId id, Result<LinkStep> step);
  void StartDeadline(probes::QpId id, QpEntry& entry);
  void LinkIsUp(QpEntry& entry);
  void BreakLink(probes::QpId id, QpEntry& entry, const Error& error);
  void FlushSoon(probes::QpId id, CmLink& link);
  void TakeWays(probes::QpId id, QpEntry& entry);
  static Result<void> CheckLink(const QpEntry& entry);
  // The pool works on it, and the peer does not know yet that it may send.
  static bool IsMoving(const QpEntry& entry);
  void AnswerLater(probes::Transport::Connected connected);

  void FinishClose();
  const PortFacts* FactsOf(std::uint32_t port) const;
  const OpenPort* PortOf(std::uint32_t port) const;
  std::uint32_t QpsOn(std::uint32_t port) const;

  boost::asio::io_context& loop_;
  BlockingPool& pool_;
  DeviceInfo info_;
  DeviceOptions options_;
  Handlers handlers_;

  State state_ = State::kClosed;
  std::string problem_;  // why it is not open
  TimePoint retry_at_;   // closed after a failure: not before
  TimePoint refreshed_;
  int jobs_ = 0;  // out in the pool; the device is not given back before they are home
  std::optional<OpenDevice> open_;
  std::vector<PortFacts> facts_;
  QpMap qps_;
  // By wr_id. The numbers are ours and never come again: what a closed QP left in the CQ is no
  // probe of the next QP with its number.
  std::map<std::uint64_t, Posted> posted_;
  std::map<std::uint64_t, Posted> unanswered_;  // echoes, by the number that their answers repeat
  std::map<std::uint64_t, Receive> receives_;   // posted, by wr_id
  std::map<std::uint64_t, Receive> answering_;  // whose answers are on their way, by wr_id
  std::uint64_t last_wr_id_ = 0;
  Datagrams datagrams_;
  std::map<std::uint32_t, std::string> no_ud_;  // why a port has no UD QP, as the journal was told
  std::map<std::uint32_t, std::string>
      dirty_;  // ports with an event since the last look, and which
  bool refreshing_ = false;
  bool refresh_again_ = false;  // something happened that the read under way may have missed
  // Released, never closed, by the destructor: the channel and the context own their descriptors.
  std::optional<boost::asio::posix::stream_descriptor> completions_;
  std::optional<boost::asio::posix::stream_descriptor> events_;
  std::optional<boost::asio::posix::stream_descriptor> cm_events_;
  int dialling_ = 0;              // jobs that may wait for a SYN to be answered
  int refusing_ = 0;              // jobs that refuse who dialled
  bool cm_paused_ = false;        // too many of them: whoever dials next waits
  bool looking_ = false;          // it has its turn in the loop
  std::uint32_t looks_left_ = 0;  // of those after the last post
  boost::asio::steady_timer clock_timer_;
  std::set<Gid> told_of_exchange_;    // peers that do without the connection manager
  boost::asio::steady_timer settle_;  // events come in bursts
};

}  // namespace rdmapulse::verbs
