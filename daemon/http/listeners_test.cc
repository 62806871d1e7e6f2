#include "daemon/http/listeners.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::http {
namespace {

class ListenersTest : public testing::Test {
 protected:
  ListenersTest() {
    char folder[] = "/tmp/rdmapulse-listen-XXXXXX";
    folder_ = mkdtemp(folder);
    path_ = folder_ + "/s.sock";
  }
  ~ListenersTest() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  std::string WhyNot(const std::string& path) {
    const auto listener = ListenUnix(context_, path);
    return listener ? "it listens" : listener.error().Text();
  }
  std::string WhyNotTcp(const std::string& listen) {
    const auto acceptor = ListenTcp(context_, listen);
    return acceptor ? "it listens" : acceptor.error().Text();
  }

  boost::asio::io_context context_;
  std::string folder_;
  std::string path_;
};

TEST_F(ListenersTest, APortThatIsTakenIsNamedWithWhatToDo) {
  const auto first = ListenTcp(context_, "127.0.0.1:0");
  ASSERT_TRUE(first) << first.error().Text();
  const std::string listen = "127.0.0.1:" + std::to_string(first->local_endpoint().port());
  EXPECT_EQ(WhyNotTcp(listen),
            "listening on " + listen +
                ": Address already in use; set http.listen to another port, or stop the process "
                "that has it");
}

TEST_F(ListenersTest, AllAddressesCollideWithOneThatIsTaken) {
  const auto first = ListenTcp(context_, ":0");
  ASSERT_TRUE(first) << first.error().Text();
  const std::string port = std::to_string(first->local_endpoint().port());
  EXPECT_NE(WhyNotTcp("127.0.0.1:" + port).find("Address already in use"), std::string::npos);
  EXPECT_NE(WhyNotTcp(":" + port).find("Address already in use"), std::string::npos);
}

TEST_F(ListenersTest, AnAddressThatIsNotThisHostsIsRefused) {
  EXPECT_EQ(WhyNotTcp("192.0.2.1:0"),
            "listening on 192.0.2.1:0: Cannot assign requested address; set http.listen to an "
            "address of this host");
}

TEST_F(ListenersTest, TheSocketIsForOwnerAndGroupAndGoesWithTheListener) {
  {
    const auto listener = ListenUnix(context_, path_);
    ASSERT_TRUE(listener) << listener.error().Text();
    struct stat status {};
    ASSERT_EQ(lstat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0660U);
  }
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenersTest, ASocketThatAKilledDaemonLeftIsReplaced) {
  const std::string aside = folder_ + "/aside";
  {
    const auto killed = ListenUnix(context_, path_);
    ASSERT_TRUE(killed) << killed.error().Text();
    // Out of its destructor's reach, which a killed daemon does not run.
    ASSERT_EQ(rename(path_.c_str(), aside.c_str()), 0);
  }
  ASSERT_EQ(rename(aside.c_str(), path_.c_str()), 0);
  ASSERT_EQ(access(path_.c_str(), F_OK), 0);
  EXPECT_EQ(WhyNot(path_), "it listens");
}

TEST_F(ListenersTest, ASocketOnWhichSomebodyAnswersIsLeftAlone) {
  const auto running = ListenUnix(context_, path_);
  ASSERT_TRUE(running) << running.error().Text();
  EXPECT_EQ(WhyNot(path_),
            "listening on " + path_ +
                ": Address already in use; another rdmapulsed answers there; stop it or set "
                "http.socket to another path");
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenersTest, AFileThatIsNoSocketIsLeftAlone) {
  { const UniqueFd file(open(path_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
  EXPECT_EQ(WhyNot(path_), "listening on " + path_ +
                               ": a file that is no socket is in the way; remove it or set "
                               "http.socket to another path");
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenersTest, ASocketThatTookOursPlaceIsNotRemovedWithOurs) {
  auto first = ListenUnix(context_, path_);
  ASSERT_TRUE(first) << first.error().Text();
  ASSERT_EQ(unlink(path_.c_str()), 0);
  const auto second = ListenUnix(context_, path_);
  ASSERT_TRUE(second) << second.error().Text();
  first->file.reset();
  EXPECT_EQ(access(path_.c_str(), F_OK), 0);
}

TEST_F(ListenersTest, AMissingFolderIsNamedWithWhatToDo) {
  EXPECT_EQ(WhyNot(folder_ + "/no/s.sock"),
            "listening on " + folder_ +
                "/no/s.sock: No such file or directory; create its folder (systemd: "
                "RuntimeDirectory=rdmapulse) or set http.socket");
}

TEST_F(ListenersTest, APathIsTakenUpToWhatTheKernelTakesAndNotBeyond) {
  const std::string longest = folder_ + "/" + std::string(107 - folder_.size() - 1, 's');
  EXPECT_EQ(WhyNot(longest), "it listens");
  EXPECT_EQ(WhyNot(longest + "s"), "listening on " + longest +
                                       "s: File name too long; set http.socket to a path of at "
                                       "most 107 bytes");
}

}  // namespace
}  // namespace rdmapulse::http
