// The floor under a probe's round trip: one signalled WRITE or READ at a time over one RC QP,
// blocking on the completion channel, and nothing else. What rdmapulse adds is measured against it.
//
//   verbs_floor DEVICE OWN_ADDRESS --serve PORT
//   verbs_floor DEVICE OWN_ADDRESS --to HOST PORT (write|read) BYTES COUNT GAP_US
//
// Prints one line: the median, the 99th percentile and the least in microseconds.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Endpoint {
  std::uint32_t qpn;
  std::uint32_t psn;
  std::uint32_t rkey;
  std::uint64_t address;
  std::array<std::uint8_t, 16> gid;
};

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(2);
}

struct Verbs {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  std::uint32_t gid_index = 0;
  Endpoint here{};
};

alignas(4096) std::array<std::uint8_t, 4096> buffer;

void FindGid(Verbs& verbs, const char* address) {
  in_addr wanted{};
  if (inet_pton(AF_INET, address, &wanted) != 1) Die("the own address is no IPv4 address");
  std::vector<ibv_gid_entry> table(1024);
  const ssize_t count = ibv_query_gid_table(verbs.context, table.data(), table.size(), 0);
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = table[static_cast<std::size_t>(i)];
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    if (std::memcmp(entry.gid.raw + 12, &wanted, 4) != 0 || entry.gid.raw[11] != 0xff) continue;
    verbs.gid_index = entry.gid_index;
    std::memcpy(verbs.here.gid.data(), entry.gid.raw, 16);
    return;
  }
  Die("no RoCE v2 GID of that address");
}

Verbs Open(const char* device, const char* address) {
  Verbs verbs;
  ibv_device** const list = ibv_get_device_list(nullptr);
  for (ibv_device** entry = list; list != nullptr && *entry != nullptr; ++entry) {
    if (std::strcmp(ibv_get_device_name(*entry), device) == 0) {
      verbs.context = ibv_open_device(*entry);
    }
  }
  if (verbs.context == nullptr) Die("opening the device");
  FindGid(verbs, address);
  verbs.pd = ibv_alloc_pd(verbs.context);
  verbs.channel = ibv_create_comp_channel(verbs.context);
  verbs.cq = ibv_create_cq(verbs.context, 16, nullptr, verbs.channel, 0);
  verbs.mr = ibv_reg_mr(verbs.pd, buffer.data(), buffer.size(),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = verbs.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap = {4, 1, 1, 1, 0};
  verbs.qp = ibv_create_qp(verbs.pd, &init);
  if (verbs.qp == nullptr || verbs.mr == nullptr) Die("making the QP");
  verbs.here.qpn = verbs.qp->qp_num;
  verbs.here.psn = 0x123;
  verbs.here.rkey = verbs.mr->rkey;
  verbs.here.address = reinterpret_cast<std::uintptr_t>(buffer.data());
  return verbs;
}

void Connect(Verbs& verbs, const Endpoint& there) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (ibv_modify_qp(verbs.qp, &attr,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0) {
    Die("INIT");
  }
  attr = {};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = there.qpn;
  attr.rq_psn = there.psn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.is_global = 1;
  std::memcpy(attr.ah_attr.grh.dgid.raw, there.gid.data(), 16);
  attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(verbs.gid_index);
  attr.ah_attr.grh.hop_limit = 64;
  if (ibv_modify_qp(verbs.qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0) {
    Die("RTR");
  }
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = verbs.here.psn;
  attr.timeout = 17;
  attr.retry_cnt = 6;
  attr.rnr_retry = 3;
  attr.max_rd_atomic = 1;
  if (ibv_modify_qp(verbs.qp, &attr,
                    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
    Die("RTS");
  }
}

void Exchange(int fd, const Endpoint& here, Endpoint& there) {
  if (write(fd, &here, sizeof here) != static_cast<ssize_t>(sizeof here) ||
      recv(fd, &there, sizeof there, MSG_WAITALL) != static_cast<ssize_t>(sizeof there)) {
    Die("exchanging endpoints");
  }
}

void Serve(Verbs& verbs, const char* port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  if (bind(listener, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0 ||
      listen(listener, 1) != 0) {
    Die("listening");
  }
  const int fd = accept(listener, nullptr, nullptr);
  Endpoint there{};
  Exchange(fd, verbs.here, there);
  Connect(verbs, there);
  char ready = 1;
  if (write(fd, &ready, 1) != 1) Die("saying ready");
  // Until the other end has done: one-sided operations need nothing from this process.
  if (read(fd, &ready, 1) < 0) Die("waiting");
}

int Dial(const char* host, const char* port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  inet_pton(AF_INET, host, &where.sin_addr);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) return fd;
    close(fd);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  Die("connecting");
}

double Once(Verbs& verbs, const Endpoint& there, bool read_op, std::uint32_t bytes) {
  ibv_sge sge{};
  sge.addr = verbs.here.address;
  sge.length = bytes;
  sge.lkey = verbs.mr->lkey;
  ibv_send_wr request{};
  request.opcode = read_op ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &sge;
  request.num_sge = bytes == 0 ? 0 : 1;
  request.wr.rdma.remote_addr = there.address;
  request.wr.rdma.rkey = there.rkey;
  ibv_req_notify_cq(verbs.cq, 0);
  ibv_send_wr* bad = nullptr;
  const auto posted = std::chrono::steady_clock::now();
  if (ibv_post_send(verbs.qp, &request, &bad) != 0) Die("ibv_post_send");
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(verbs.channel, &cq, &context) != 0) Die("ibv_get_cq_event");
  const auto handled = std::chrono::steady_clock::now();
  ibv_ack_cq_events(cq, 1);
  ibv_wc wc{};
  while (ibv_poll_cq(verbs.cq, 1, &wc) == 0) {
  }
  if (wc.status != IBV_WC_SUCCESS) Die("a work request failed");
  return std::chrono::duration<double, std::micro>(handled - posted).count();
}

int Measure(Verbs& verbs, char** argv) {
  const int fd = Dial(argv[0], argv[1]);
  Endpoint there{};
  Exchange(fd, verbs.here, there);
  Connect(verbs, there);
  char ready = 0;
  if (read(fd, &ready, 1) != 1) Die("waiting for the other end");
  const bool read_op = std::string(argv[2]) == "read";
  const auto bytes = static_cast<std::uint32_t>(std::stoul(argv[3]));
  const std::size_t count = std::stoul(argv[4]);
  const std::chrono::microseconds gap(std::stol(argv[5]));
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(Once(verbs, there, read_op, bytes));
    std::this_thread::sleep_for(gap);
  }
  std::sort(all.begin(), all.end());
  std::printf("p50_us=%.1f p99_us=%.1f min_us=%.1f\n", all[count / 2], all[count * 99 / 100],
              all[0]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr,
                 "usage: verbs_floor DEVICE OWN_ADDRESS --serve PORT\n"
                 "       verbs_floor DEVICE OWN_ADDRESS --to HOST PORT (write|read) BYTES COUNT "
                 "GAP_US\n");
    return 2;
  }
  Verbs verbs = Open(argv[1], argv[2]);
  const std::string mode = argv[3];
  if (mode == "--serve") {
    Serve(verbs, argv[4]);
    return 0;
  }
  return argc == 10 && mode == "--to" ? Measure(verbs, argv + 4) : 2;
}
