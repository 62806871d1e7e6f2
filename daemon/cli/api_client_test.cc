#include "daemon/cli/api_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "daemon/base/unique_fd.h"
#include "daemon/cli/fake_daemon.h"

namespace rdmapulse::cli {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

using Event = ApiLines::Event;

constexpr const char* kPrefix = "asking the daemon at d.sock";

std::string Told(const std::string& answer) {
  FakeDaemon daemon(SocketPath("d"), answer);
  const Result<std::string> body = Ask(daemon.Path(), {.target = "/api/v1/ports"});
  return body ? "no error; the body is " + *body : body.error().Text();
}

TEST(AskTest, SendsARequestAndGivesTheBodyUnchanged) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer("{ \"ports\":[] }\n"));
  EXPECT_EQ(Ask(daemon.Path(), {.target = "/api/v1/ports"}).value(), "{ \"ports\":[] }\n");
  EXPECT_EQ(daemon.Request(),
            "GET /api/v1/ports HTTP/1.1\r\nHost: rdmapulsed\r\nUser-Agent: rdmapulse\r\n"
            "Connection: close\r\n\r\n");
}

TEST(AskTest, PostsABodyWithItsLength) {
  FakeDaemon daemon(SocketPath("d"), JsonAnswer("{}"));
  ASSERT_TRUE(Ask(daemon.Path(), {.method = "POST", .target = "/x", .body = "{\"on\":true}"}));
  EXPECT_EQ(daemon.Request(),
            "POST /x HTTP/1.1\r\nHost: rdmapulsed\r\nUser-Agent: rdmapulse\r\n"
            "Connection: close\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n"
            "{\"on\":true}");
}

TEST(AskTest, ReadsChunksAndBodiesThatEndWithTheConnection) {
  EXPECT_EQ(Told(ChunkedAnswer({"{\"a\"", ":1}"})), "no error; the body is {\"a\":1}");
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\n\r\n{\"a\":1}"), "no error; the body is {\"a\":1}");
}

TEST(AskTest, SaysWhatTheDaemonSaid) {
  const std::string prefix = kPrefix;
  EXPECT_EQ(Told(JsonAnswer(R"({"error":"no peer h9 is configured"})", "404 Not Found")),
            prefix + ": no peer h9 is configured");
  EXPECT_EQ(Told(JsonAnswer("the host is too busy\r\n", "503 Service Unavailable")),
            prefix + ": the host is too busy");
  EXPECT_EQ(Told(JsonAnswer("", "500 Internal Server Error")), prefix + ": HTTP status 500");
  EXPECT_EQ(Told(JsonAnswer("\x1b[2J" + std::string(1000, 'x'), "400 Bad Request")),
            prefix + ": ?[2J" + std::string(396, 'x'));
}

TEST(AskTest, BrokenAnswersAreErrors) {
  const std::string prefix = kPrefix;
  EXPECT_EQ(
      Told(""),
      prefix + ": the connection was closed without an answer; see: journalctl -u rdmapulsed");
  const std::string cut =
      prefix +
      ": the connection ended in the middle of the answer; the daemon may have been stopped; see: "
      "journalctl -u rdmapulsed";
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\nContent-"), cut);
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a\""), cut);
  EXPECT_EQ(Told(ChunkedAnswer({"{\"a\":1}"}, false)), cut);
  EXPECT_EQ(
      Told("SSH-2.0-OpenSSH_9.2p1\r\n\r\n"),
      prefix + ": the answer is not HTTP: bad version; does the socket belong to rdmapulsed?");
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\nX: " + std::string(100000, 'x')),
            prefix +
                ": the answer is not HTTP: header limit exceeded; does the socket belong to "
                "rdmapulsed?");
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            prefix + ": the answer is not HTTP: bad chunk; does the socket belong to rdmapulsed?");
}

TEST(AskTest, AnAnswerWithoutEndIsNotKept) {
  EXPECT_EQ(Told("HTTP/1.1 200 OK\r\n\r\n" + std::string((64U << 20) + 1, 'x')),
            std::string(kPrefix) + ": the answer is larger than 64 MiB");
}

TEST(AskTest, SaysWhyThereIsNoDaemonAndWhatToDo) {
  const std::string path = SocketPath("none");
  EXPECT_EQ(Ask(path, {}).error().Text(),
            "asking the daemon at none.sock: No such file or directory; is rdmapulsed running? "
            "See: systemctl status rdmapulsed; another path: --socket PATH");
  EXPECT_EQ(Ask(std::string(200, 'x'), {}).error().code, std::errc::filename_too_long);
}

// Without the capability by which root ignores modes. The child says what it was told.
std::string ToldWithoutPrivilege(const std::string& path) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, 2> none = {};
    const bool dropped = syscall(SYS_capset, &header, none.data()) == 0;
    const Result<std::string> body = Ask(path, {});
    const std::string told = !dropped ? "capset failed" : body ? "ok" : body.error().Text();
    const ssize_t written = write(ends[1], told.data(), told.size());
    _exit(written == static_cast<ssize_t>(told.size()) ? 0 : 1);
  }
  close(ends[1]);
  const UniqueFd read_end(ends[0]);
  std::array<char, 1024> told{};
  const ssize_t size = read(read_end.get(), told.data(), told.size());
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return {told.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

TEST(AskTest, SaysWhoMayAsk) {
  const std::string path = SocketPath("d");
  FakeDaemon daemon(path, JsonAnswer("{}"));
  ASSERT_EQ(chmod(path.c_str(), 0000), 0);
  EXPECT_EQ(ToldWithoutPrivilege(path),
            "asking the daemon at d.sock: Permission denied; run as root, or as a member of the "
            "group that owns the socket: usermod -aG rdmapulse USER");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(ToldWithoutPrivilege(path), "ok") << "it was the mode that refused";
}

TEST(ApiLinesTest, GivesLinesHoweverTheyAreCut) {
  FakeDaemon daemon(SocketPath("d"),
                    ChunkedAnswer({"{\"seq\":1}\n{\"se", "q\":2}", "\n{\"seq\":3}"}));
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  std::string line;
  std::vector<std::string> all;
  while (lines->Next(10s, -1, line).value() == Event::kLine) all.push_back(line);
  EXPECT_EQ(all, (std::vector<std::string>{"{\"seq\":1}", "{\"seq\":2}", "{\"seq\":3}"}));
  EXPECT_EQ(lines->Next(10s, -1, line).value(), Event::kEnd) << "the end stays the end";
}

TEST(ApiLinesTest, SaysThatNothingCameYetAndGoesOn) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({"{\"seq\":1}\n"}, false), Afterwards::kHold);
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  std::string line;
  EXPECT_EQ(lines->Next(10s, -1, line).value(), Event::kLine);
  const TimePoint before = Clock::now();
  EXPECT_EQ(lines->Next(20ms, -1, line).value(), Event::kNothingYet);
  EXPECT_GE(Clock::now() - before, 20ms);
  EXPECT_EQ(lines->Next(0ms, -1, line).value(), Event::kNothingYet);
}

TEST(ApiLinesTest, AnInterruptEndsTheWait) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({}, false), Afterwards::kHold);
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  const UniqueFd interrupt(eventfd(1, EFD_CLOEXEC));
  std::string line;
  EXPECT_EQ(lines->Next(1h, interrupt.get(), line).value(), Event::kInterrupted);
}

TEST(StillAnswersTest, WhoIsSilentIsAnErrorAndARefusalIsAnAnswer) {
  {
    FakeDaemon daemon(SocketPath("d"), "", Afterwards::kHold);
    EXPECT_EQ(StillAnswers(daemon.Path(), 20ms, -1).error().Text(),
              "asking the daemon at d.sock: Connection timed out; it does not answer; see: "
              "journalctl -u rdmapulsed");
  }
  {
    FakeDaemon daemon(SocketPath("d"), "", Afterwards::kHold);
    const UniqueFd interrupt(eventfd(1, EFD_CLOEXEC));
    EXPECT_EQ(StillAnswers(daemon.Path(), 1h, interrupt.get()).value(), false);
  }
  for (const std::string status : {"200 OK", "503 Service Unavailable"}) {
    FakeDaemon daemon(SocketPath("d"), JsonAnswer("{}", status));
    EXPECT_EQ(StillAnswers(daemon.Path(), 10s, -1).value(), true) << status;
    EXPECT_TRUE(daemon.Request().starts_with("GET /api/v1/status HTTP/1.1\r\n"));
  }
  EXPECT_EQ(StillAnswers(SocketPath("none"), 10s, -1).error().code,
            std::errc::no_such_file_or_directory);
}

TEST(ApiLinesTest, LinesBeforeABreakAreGiven) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({"{\"seq\":1}\n{\"seq\":2"}, false));
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  std::string line;
  EXPECT_EQ(lines->Next(10s, -1, line).value(), Event::kLine);
  EXPECT_EQ(line, "{\"seq\":1}");
  EXPECT_EQ(lines->Next(10s, -1, line).error().doing,
            "asking the daemon at d.sock: the connection ended in the middle of the answer");
}

TEST(ApiLinesTest, ALineWithoutEndIsAnError) {
  FakeDaemon daemon(SocketPath("d"), ChunkedAnswer({std::string(1U << 20, 'x')}));
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  std::string line;
  EXPECT_EQ(lines->Next(10s, -1, line).error().Text(),
            "asking the daemon at d.sock: a line of the answer is longer than 64 KiB");
}

TEST(ApiLinesTest, ARefusalIsTheDaemonsSentence) {
  FakeDaemon daemon(SocketPath("d"),
                    JsonAnswer(R"({"error":"no peer h9 is configured"})", "404 Not Found"));
  auto lines = ApiLines::Start(daemon.Path(), {.method = "POST", .target = "/p"});
  ASSERT_TRUE(lines.has_value()) << lines.error().Text();
  std::string line;
  EXPECT_EQ(lines->Next(10s, -1, line).error().Text(),
            "asking the daemon at d.sock: no peer h9 is configured");
}

}  // namespace
}  // namespace rdmapulse::cli
