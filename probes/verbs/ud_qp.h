// A port's UD QP, for datagrams to and from all its peers, and the address handles that they leave
// by. Creating may block, an address handle for a second while ARP goes unanswered: off the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "probes/datagram.h"
#include "probes/verbs/handles.h"
#include "probes/verbs/rc_qp.h"

namespace rdmapulse::verbs {

// Datagrams that may come before the daemon must have looked; what comes beyond is lost. A peer
// asks once a second at most unless somebody asks it to.
inline constexpr std::size_t kUdReceives = 64;
// Datagrams and answers whose sending has not completed; a NIC takes microseconds.
inline constexpr std::size_t kUdSends = 32;
// What of a UD QP may be in its completion queue at once.
inline constexpr std::uint32_t kCompletionsOfUd = kUdReceives + kUdSends;

struct UdPlace {
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  std::uint32_t port = 1;
  std::uint32_t qkey = 0;           // below 2^31: the others are the kernel's
  std::uint64_t first_receive = 0;  // wr_id of the first receive, that of the n-th is n more
};

// A QP, and the memory of the datagrams that it sends and receives. Members are destroyed bottom
// up.
struct UdQp {
  std::unique_ptr<std::byte, FreeBytes> memory;
  Mr mr;
  Qp qp;
  std::uint32_t qkey = 0;
  std::uint64_t first_receive = 0;
};

// In RTS, its receives posted.
Result<UdQp> CreateUd(const UdPlace& place);

Result<void> PostUdReceive(const UdQp& qp, std::size_t receive, std::uint64_t wr_id);
// Of a receive that has completed, so many bytes with what verbs puts before them: the datagram.
std::span<const std::uint8_t> ReceivedBy(const UdQp& qp, std::size_t receive, std::size_t bytes);

struct UdSend {
  std::size_t slot = 0;  // below kUdSends, none on its way in it
  ibv_ah* ah = nullptr;
  std::uint32_t qpn = 0;
  std::uint32_t qkey = 0;
  std::uint64_t wr_id = 0;
};
// Signalled.
Result<void> PostUdSend(const UdQp& qp, const UdSend& send, const probes::Datagram& datagram);

// One for each way: to `address`, where the RC QP's packets go, with a source port of its own. As
// many as the attributes say where the driver heeds the flow label; else one, which goes as the
// driver likes.
Result<std::vector<Ah>> CreateWays(const RtsRequest& request, ibv_ah_attr address,
                                   bool heeds_flow_label);

// Whether an address handle's flow label sets the UDP source port as a QP's does. mlx5 since
// rdma-core 31, hns; not soft-RoCE, which makes one of the UD QP's number. Others are not known.
bool HeedsFlowLabelOfAh(std::string_view driver);

}  // namespace rdmapulse::verbs
