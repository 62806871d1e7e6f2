// The built daemon on a host whose NIC does not answer: sysfs through a file system that can be
// made to block, as a file does behind which firmware hangs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "daemon/base/unique_fd.h"
#include "tests/fakes/slow_files.h"
#include "tests/fakes/tree.h"
#include "tests/integration/process.h"
#include "tests/integration/scrape.h"

namespace rdmapulse::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr const char* kHost =
    "class/infiniband/mlx5_0/hca_type = MT4119\n"
    "class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer = 10\n"
    "class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests = 1\n"
    "class/infiniband/mlx5_0/ports/1/link_layer = InfiniBand\n"
    "class/infiniband/mlx5_0/ports/1/state = 4: ACTIVE\n"
    "class/infiniband/mlx5_1/hca_type = MT4119\n"
    "class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer = 20\n"
    "class/infiniband/mlx5_1/ports/1/link_layer = InfiniBand\n"
    "class/infiniband/mlx5_1/ports/1/state = 4: ACTIVE\n";

// A series of a raw counter and its value, as the exposition spells it.
std::string Counter(const std::string& device, int value) {
  return "rdmapulse_raw_counter_total{device=\"" + device +
         "\",port=\"1\",source=\"hw_counters\",name=\"out_of_buffer\"} " + std::to_string(value);
}

class StuckReadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const UniqueFd rdma(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA));
    if (rdma) GTEST_SKIP() << "this kernel knows which devices there are: ours are not";
    const UniqueFd fuse(open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!fuse) GTEST_SKIP() << "/dev/fuse cannot be opened: this kernel or container has no FUSE";
    auto mounted = fakes::SlowFiles::Mount(tree_.Root());
    ASSERT_TRUE(mounted) << mounted.error().Text();
    files_ = std::move(*mounted);
    std::string name = "/tmp/rdmapulse-XXXXXX";
    folder_ = mkdtemp(name.data());
    http_ = FreePort("127.0.0.1");
  }
  void TearDown() override {
    daemon_.reset();
    files_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void Start(const std::string& more = "") {
    std::ofstream(folder_ / "c.yaml")
        << "http: {listen: '127.0.0.1:" << http_ << "', socket: '" << (folder_ / "s").string()
        << "'}\ncontrol: {listen: ''}\nsysfs_root: " << files_->Root() << "\n"
        << "collect: {interval: 100ms}\n"
        << more;
    daemon_ = std::make_unique<Process>(
        std::vector<std::string>{"daemon/rdmapulsed", "--config", (folder_ / "c.yaml").string()});
    ASSERT_TRUE(daemon_->WaitFor("started on")) << daemon_->output();
  }
  // Fails when an answer takes long: a scrape waits for no device.
  std::string Metrics() const {
    const auto start = std::chrono::steady_clock::now();
    std::string metrics = Get("127.0.0.1", http_, "/metrics");
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
    return metrics;
  }
  bool Shows(const std::string& text) const {
    return Eventually([this, &text] { return Metrics().find(text) != std::string::npos; });
  }

  const fakes::Tree tree_{kHost};
  std::unique_ptr<fakes::SlowFiles> files_;
  fs::path folder_;
  std::uint16_t http_ = 0;
  std::unique_ptr<Process> daemon_;
};

TEST_F(StuckReadTest, HoldsUpNoOtherDeviceIsDroppedAndLetsTheDaemonEnd) {
  Start();
  ASSERT_TRUE(Shows(Counter("mlx5_0", 10))) << Metrics();
  ASSERT_TRUE(Shows(Counter("mlx5_1", 20)));
  files_->Block("class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests");
  ASSERT_TRUE(Eventually([this] { return files_->Waiting() > 0; })) << "the trap must work";

  tree_.Write("class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer", "21\n");
  EXPECT_TRUE(Shows(Counter("mlx5_1", 21))) << "the other device is read";
  EXPECT_THAT(Metrics(), HasSubstr(Counter("mlx5_0", 10))) << "what was read last is still shown";
  EXPECT_TRUE(daemon_->WaitFor("mlx5_0: its counters do not answer")) << daemon_->output();
  EXPECT_TRUE(Shows("rdmapulse_collector_success{collector=\"hw_counters\",device=\"mlx5_0\"} 0"));
  EXPECT_TRUE(Eventually([this] {
    return Metrics().find(Counter("mlx5_0", 10)) == std::string::npos;
  })) << "but not for ever";
  tree_.Write("class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer", "22\n");
  EXPECT_TRUE(Shows(Counter("mlx5_1", 22)));
  EXPECT_EQ(files_->Waiting(), 1) << "no second reader queued up behind the first";

  const auto asked = std::chrono::steady_clock::now();
  daemon_->Signal(SIGTERM);
  EXPECT_TRUE(daemon_->WaitFor("a kernel call is stuck; leaving without it")) << daemon_->output();
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 10s);
  EXPECT_EQ(Get("127.0.0.1", http_, "/metrics"), "") << "its port is free for the next one";
  // No process ends before the kernel has answered each of its calls, not even when it is killed.
  files_->Release();
  EXPECT_EQ(daemon_->Wait(), 0);
}

TEST_F(StuckReadTest, ADeviceThatComesBackIsReadAgain) {
  Start();
  ASSERT_TRUE(Shows(Counter("mlx5_0", 10)));
  files_->Block("class/infiniband/mlx5_0/ports/1/hw_counters/rx_write_requests");
  ASSERT_TRUE(Eventually([this] { return files_->Waiting() > 0; }));
  tree_.Write("class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", "11\n");
  files_->Release();
  EXPECT_TRUE(Shows(Counter("mlx5_0", 11)));
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), 0);
  EXPECT_THAT(daemon_->output(), Not(HasSubstr("is stuck")));
}

TEST_F(StuckReadTest, ADeviceThatDoesNotEvenTellItsStateHidesNoOther) {
  files_->Block("class/infiniband/mlx5_0/ports/1/state");
  Start();
  EXPECT_TRUE(Shows(Counter("mlx5_1", 20)));
  EXPECT_TRUE(daemon_->WaitFor("mlx5_0: its state does not answer")) << daemon_->output();
  EXPECT_THAT(Metrics(), Not(HasSubstr("device=\"mlx5_0\"")));
  files_->Release();
  EXPECT_TRUE(Shows(Counter("mlx5_0", 10)));
}

TEST_F(StuckReadTest, OfAnExcludedDeviceNothingIsOpened) {
  Start("devices: {exclude: [mlx5_1]}\n");
  ASSERT_TRUE(Shows(Counter("mlx5_0", 10)));
  tree_.Write("class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", "11\n");
  ASSERT_TRUE(Shows(Counter("mlx5_0", 11))) << "another pass";
  bool counts = false;
  for (const std::string& path : files_->TakeOpened()) {
    counts |= path.find("mlx5_0") != std::string::npos;
    EXPECT_THAT(path, Not(HasSubstr("mlx5_1")));
  }
  EXPECT_TRUE(counts) << "the account must work";
}

}  // namespace
}  // namespace rdmapulse::tests
