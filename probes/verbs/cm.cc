#include "probes/verbs/cm.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rdmapulse::verbs {
namespace {

constexpr std::uint32_t kBacklog = 64;  // requests that wait for us; more are refused
constexpr std::array<char, 4> kMagic = {'r', 'd', 'p', '1'};
constexpr std::size_t kGreetingBytes = kMagic.size() + 16;

// A command as the kernel reads it: a header, and right behind it what the command takes.
template <typename Payload>
struct Command {
  rdma_ucm_cmd_hdr header{};
  Payload payload{};
};

template <typename Payload>
int Run(CmHost& host, int fd, std::uint32_t number, const Payload& payload,
        std::size_t answer_bytes = 0) {
  static_assert(sizeof(Command<Payload>) == sizeof(rdma_ucm_cmd_hdr) + sizeof(Payload));
  Command<Payload> command;
  command.header = {.cmd = number,
                    .in = static_cast<std::uint16_t>(sizeof(Payload)),
                    .out = static_cast<std::uint16_t>(answer_bytes)};
  command.payload = payload;
  return host.Run(fd, std::as_bytes(std::span(&command, 1)));
}

template <typename Answer>
std::uint64_t AddressOf(Answer& answer) {
  return reinterpret_cast<std::uintptr_t>(&answer);
}

Result<void> Check(int code, std::string_view what, const std::string& on = {}) {
  if (code == 0) return {};
  return Fail(code, {what, on.empty() ? "" : " ", on});
}

// Fills the kernel's sockaddr_storage; returns the address's size.
std::uint16_t Write(const CmAddress& address, __kernel_sockaddr_storage& to) {
  static_assert(sizeof to >= sizeof(sockaddr_in6));
  to = {};
  if (address.ip.IsIpv4()) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    std::memcpy(&ipv4.sin_addr, address.ip.bytes.data() + 12, 4);
    std::memcpy(&to, &ipv4, sizeof ipv4);
    return sizeof ipv4;
  }
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(address.port);
  std::memcpy(&ipv6.sin6_addr, address.ip.bytes.data(), address.ip.bytes.size());
  std::memcpy(&to, &ipv6, sizeof ipv6);
  return sizeof ipv6;
}

CmAddress Read(const __kernel_sockaddr_storage& from) {
  CmAddress address;
  if (from.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &from, sizeof ipv4);
    address.ip = MappedIpv4(std::bit_cast<std::array<std::uint8_t, 4>>(ipv4.sin_addr));
    address.port = ntohs(ipv4.sin_port);
  } else if (from.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &from, sizeof ipv6);
    std::memcpy(address.ip.bytes.data(), &ipv6.sin6_addr, address.ip.bytes.size());
    address.port = ntohs(ipv6.sin6_port);
  }
  return address;
}

// One READ at a time each way, as on every other QP of ours.
rdma_ucm_conn_param Parameters(const CmQp& qp) {
  rdma_ucm_conn_param parameters{};
  parameters.qp_num = qp.qpn;
  parameters.responder_resources = 1;
  parameters.initiator_depth = 1;
  parameters.retry_count = qp.retry_cnt;
  parameters.rnr_retry_count = qp.rnr_retry;
  parameters.valid = 1;
  return parameters;
}

ibv_ah_attr Read(const ib_uverbs_ah_attr& from) {
  ibv_ah_attr address{};
  std::memcpy(address.grh.dgid.raw, from.grh.dgid, sizeof from.grh.dgid);
  address.grh.flow_label = from.grh.flow_label;
  address.grh.sgid_index = from.grh.sgid_index;
  address.grh.hop_limit = from.grh.hop_limit;
  address.grh.traffic_class = from.grh.traffic_class;
  address.dlid = from.dlid;
  address.sl = from.sl;
  address.src_path_bits = from.src_path_bits;
  address.static_rate = from.static_rate;
  address.is_global = from.is_global;
  address.port_num = from.port_num;
  return address;
}

// What an RC QP is moved by on its way up; the kernel tells no alternate path.
CmQpMove Read(const ib_uverbs_qp_attr& from, ibv_qp_state to) {
  CmQpMove move;
  move.mask = static_cast<int>(from.qp_attr_mask);
  ibv_qp_attr& attr = move.attr;
  attr.qp_state = to;
  attr.path_mtu = static_cast<ibv_mtu>(from.path_mtu);
  attr.rq_psn = from.rq_psn;
  attr.sq_psn = from.sq_psn;
  attr.dest_qp_num = from.dest_qp_num;
  attr.qp_access_flags = from.qp_access_flags;
  attr.ah_attr = Read(from.ah_attr);
  attr.pkey_index = from.pkey_index;
  attr.max_rd_atomic = from.max_rd_atomic;
  attr.max_dest_rd_atomic = from.max_dest_rd_atomic;
  attr.min_rnr_timer = from.min_rnr_timer;
  attr.port_num = from.port_num;
  attr.timeout = from.timeout;
  attr.retry_cnt = from.retry_cnt;
  attr.rnr_retry = from.rnr_retry;
  return move;
}

void Append(std::vector<std::byte>& to, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    to.push_back(static_cast<std::byte>((number >> shift) & 0xFFU));
  }
}

std::uint64_t NumberAt(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes.first(8))
    number = number << 8U | std::to_integer<unsigned>(byte);
  return number;
}

}  // namespace

std::string CmAddress::Text() const {
  return (ip.IsIpv4() ? ip.Text() : "[" + ip.Text() + "]") + ":" + std::to_string(port);
}

std::vector<std::byte> Encode(const CmGreeting& greeting) {
  std::vector<std::byte> bytes;
  bytes.reserve(kGreetingBytes);
  for (const char c : kMagic) bytes.push_back(static_cast<std::byte>(c));
  Append(bytes, greeting.to);
  Append(bytes, greeting.from);
  return bytes;
}

std::optional<CmGreeting> DecodeGreeting(std::span<const std::byte> bytes) {
  if (bytes.size() < kGreetingBytes) return std::nullopt;
  const auto rest = bytes.subspan(kGreetingBytes);
  if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return std::nullopt;
  }
  const bool ours = std::equal(kMagic.begin(), kMagic.end(), bytes.begin(),
                               [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
  if (!ours) return std::nullopt;
  const CmGreeting greeting{.to = NumberAt(bytes.subspan(kMagic.size())),
                            .from = NumberAt(bytes.subspan(kMagic.size() + 8))};
  if (greeting.to == 0 || greeting.from == 0) return std::nullopt;
  return greeting;
}

Result<std::uint32_t> Cm::Create(std::uint64_t owner) const {
  rdma_ucm_create_id_resp answer{};
  rdma_ucm_create_id command{};
  command.uid = owner;
  command.response = AddressOf(answer);
  command.ps = RDMA_PS_TCP;
  const int code = Run(*host_, fd_, RDMA_USER_CM_CMD_CREATE_ID, command, sizeof answer);
  if (code != 0) return Fail(code, {"making an rdma_cm identifier"});
  return answer.id;
}

void Cm::Destroy(std::uint32_t id) const {
  rdma_ucm_destroy_id_resp answer{};
  rdma_ucm_destroy_id command{};
  command.response = AddressOf(answer);
  command.id = id;
  // It fails only for an identifier that is not there.
  Run(*host_, fd_, RDMA_USER_CM_CMD_DESTROY_ID, command, sizeof answer);
}

Result<void> Cm::SetTrafficClass(std::uint32_t id, std::uint8_t traffic_class) const {
  rdma_ucm_set_option command{};
  command.optval = AddressOf(traffic_class);
  command.id = id;
  command.level = RDMA_OPTION_ID;
  command.optname = RDMA_OPTION_ID_TOS;
  command.optlen = sizeof traffic_class;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_SET_OPTION, command),
               "setting the type of service of an rdma_cm identifier");
}

Result<void> Cm::Bind(std::uint32_t id, const CmAddress& here) const {
  rdma_ucm_bind command{};
  command.id = id;
  command.addr_size = Write(here, command.addr);
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_BIND, command), "rdma_cm: binding to",
               here.ip.Text());
}

Result<void> Cm::Listen(std::uint32_t id) const {
  rdma_ucm_listen command{};
  command.id = id;
  command.backlog = kBacklog;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_LISTEN, command), "rdma_cm: listening");
}

Result<void> Cm::ResolveAddress(std::uint32_t id, const Gid& here, const CmAddress& there,
                                std::uint32_t timeout_ms) const {
  rdma_ucm_resolve_addr command{};
  command.id = id;
  command.timeout_ms = timeout_ms;
  command.src_size = Write({.ip = here, .port = 0}, command.src_addr);
  command.dst_size = Write(there, command.dst_addr);
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_RESOLVE_ADDR, command),
               "rdma_cm: looking for a way to", there.Text());
}

Result<void> Cm::ResolveRoute(std::uint32_t id, std::uint32_t timeout_ms) const {
  rdma_ucm_resolve_route command{};
  command.id = id;
  command.timeout_ms = timeout_ms;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_RESOLVE_ROUTE, command),
               "rdma_cm: resolving a route");
}

Result<CmBinding> Cm::Query(std::uint32_t id) const {
  rdma_ucm_query_addr_resp answer{};
  rdma_ucm_query command{};
  command.response = AddressOf(answer);
  command.id = id;
  command.option = RDMA_USER_CM_QUERY_ADDR;
  const int code = Run(*host_, fd_, RDMA_USER_CM_CMD_QUERY, command, sizeof answer);
  if (code != 0) return Fail(code, {"asking rdma_cm for the address of an identifier"});
  return CmBinding{.node_guid = be64toh(answer.node_guid),
                   .port = answer.port_num,
                   .here = Read(answer.src_addr)};
}

Result<void> Cm::Connect(std::uint32_t id, const CmQp& qp, const CmGreeting& greeting) const {
  const std::vector<std::byte> bytes = Encode(greeting);
  rdma_ucm_connect command{};
  command.conn_param = Parameters(qp);
  std::memcpy(command.conn_param.private_data, bytes.data(), bytes.size());
  command.conn_param.private_data_len = static_cast<std::uint8_t>(bytes.size());
  command.id = id;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_CONNECT, command), "rdma_cm: connecting");
}

Result<void> Cm::Accept(std::uint32_t id, std::uint64_t owner, const CmQp& qp) const {
  rdma_ucm_accept command{};
  command.uid = owner;
  command.conn_param = Parameters(qp);
  command.id = id;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_ACCEPT, command), "rdma_cm: accepting");
}

Result<CmQpMove> Cm::Move(std::uint32_t id, ibv_qp_state to) const {
  ib_uverbs_qp_attr answer{};
  rdma_ucm_init_qp_attr command{};
  command.response = AddressOf(answer);
  command.id = id;
  command.qp_state = to;
  const int code = Run(*host_, fd_, RDMA_USER_CM_CMD_INIT_QP_ATTR, command, sizeof answer);
  if (code != 0) return Fail(code, {"asking rdma_cm how to move a QP"});
  return Read(answer, to);
}

// An acceptance without parameters is one of the peer's answer.
Result<void> Cm::Confirm(std::uint32_t id) const {
  rdma_ucm_accept command{};
  command.id = id;
  return Check(Run(*host_, fd_, RDMA_USER_CM_CMD_ACCEPT, command), "rdma_cm: confirming");
}

void Cm::Reject(std::uint32_t id) const {
  rdma_ucm_reject command{};
  command.id = id;
  // Who asked may be gone already: nobody is left to tell.
  Run(*host_, fd_, RDMA_USER_CM_CMD_REJECT, command);
}

Result<std::optional<CmEvent>> Cm::NextEvent() const {
  rdma_ucm_event_resp answer{};
  rdma_ucm_get_event command{};
  command.response = AddressOf(answer);
  const int code = Run(*host_, fd_, RDMA_USER_CM_CMD_GET_EVENT, command, sizeof answer);
  if (code == EAGAIN) return std::nullopt;
  if (code != 0) return Fail(code, {"reading an event of rdma_cm"});
  CmEvent event{.type = static_cast<CmEventType>(answer.event),
                .owner = answer.uid,
                .id = answer.id,
                .error = std::abs(static_cast<int>(answer.status)),
                .private_data = {}};
  const auto data = std::as_bytes(std::span(answer.param.conn.private_data))
                        .first(answer.param.conn.private_data_len);
  event.private_data.assign(data.begin(), data.end());
  return event;
}

}  // namespace rdmapulse::verbs
