#include "daemon/cli/api_client.h"

#include <algorithm>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"
#include "daemon/cli/unix_socket.h"

namespace rdmapulse::cli {
namespace {

namespace http = boost::beast::http;
// 100,000 paths at some 400 bytes each stay below; anything larger is not the daemon's.
constexpr std::uint64_t kBodyBytes = 64ULL << 20;
constexpr std::size_t kLineBytes = 64U << 10;
// A refusal is a sentence; more of it is not for a terminal.
constexpr std::size_t kRefusalBytes = 400;

std::string_view Advice(int code) {
  switch (code) {
    case ENOENT:
    case ECONNREFUSED:
      return "is rdmapulsed running? See: systemctl status rdmapulsed; another path: --socket PATH";
    case EACCES:
      return "run as root, or as a member of the group that owns the socket: "
             "usermod -aG rdmapulse USER";
    case EAGAIN: return "the daemon takes no more connections; see: journalctl -u rdmapulsed";
    default: return {};
  }
}

std::string Bytes(const ApiRequest& request) {
  std::string bytes = request.method + " " + request.target + " HTTP/1.1\r\n";
  bytes += "Host: rdmapulsed\r\nUser-Agent: rdmapulse\r\nConnection: close\r\n";
  if (request.method != "GET") {
    bytes += "Content-Type: application/json\r\n";
    bytes += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return bytes + "\r\n" + request.body;
}

// The sentence in the body of an answer that is not 200: {"error": "…"} or plain text.
std::string Refusal(std::string_view body) {
  const auto object = ParseObject(body, "the refusal");
  std::string text = object ? TextField(*object, "error").value_or("") : Printable(body);
  text.erase(text.find_last_not_of("? \n") + 1);  // Printable made a '?' of the line's end
  if (text.size() > kRefusalBytes) text.resize(kRefusalBytes);
  return text;
}

}  // namespace

// One HTTP answer, parsed as it comes.
class ApiLines::Answer {
 public:
  static Result<std::unique_ptr<Answer>> Start(const std::string& socket,
                                               const ApiRequest& request) {
    const std::string doing = "asking the daemon at " + socket;
    Result<UnixSocket> connected = UnixSocket::Connect(socket);
    if (!connected) {
      const int code = connected.error().code.value();
      return Fail(code, {doing}, Advice(code));
    }
    auto answer = std::make_unique<Answer>(std::move(*connected), doing);
    const Result<void> sent = answer->socket_.Send(Bytes(request), Clock::now() + kAnswerTime);
    if (!sent) return Fail(sent.error().code.value(), {doing, ": ", sent.error().doing});
    return answer;
  }

  Answer(UnixSocket socket, std::string doing)
      : socket_(std::move(socket)), doing_(std::move(doing)) {
    parser_.body_limit(boost::none);  // counted here, since a stream of lines has no size
    parser_.eager(true);
  }

  // Takes more of the body in. kBytes: there may be none of it yet.
  Result<UnixSocket::Received> Advance(std::optional<TimePoint> deadline, int interrupt_fd) {
    const auto received = socket_.Receive(deadline, interrupt_fd, unparsed_);
    if (!received) {
      return Fail(received.error().code.value(), {doing_, ": ", received.error().doing});
    }
    boost::system::error_code error;
    if (*received == UnixSocket::Received::kBytes) {
      const std::size_t used = parser_.put({unparsed_.data(), unparsed_.size()}, error);
      unparsed_.erase(0, used);
      if (error == http::error::need_more) error.clear();
    } else if (*received == UnixSocket::Received::kEnd && parser_.got_some()) {
      parser_.put_eof(error);
    } else if (*received == UnixSocket::Received::kEnd) {
      error = http::error::end_of_stream;
    }
    if (error == http::error::partial_message) {
      return Fail({doing_, ": the connection ended in the middle of the answer"},
                  "the daemon may have been stopped; see: journalctl -u rdmapulsed");
    }
    if (error == http::error::end_of_stream) {
      return Fail({doing_, ": the connection was closed without an answer"},
                  "see: journalctl -u rdmapulsed");
    }
    if (error) {
      return Fail({doing_, ": the answer is not HTTP: ", error.message()},
                  "does the socket belong to rdmapulsed?");
    }
    return *received;
  }

  // What came of the body since the last call. The parser only ever appends to it.
  std::string TakeBody() { return std::exchange(parser_.get().body(), {}); }

  bool HeaderDone() const { return parser_.is_header_done(); }
  bool Done() const { return parser_.is_done(); }
  bool Refused() const { return HeaderDone() && parser_.get().result() != http::status::ok; }

  // The whole body, for answers that have an end.
  Result<std::string> ReadAll(std::uint64_t bytes_max) {
    const TimePoint deadline = Clock::now() + kAnswerTime;
    std::string body = std::exchange(pending_, {});
    while (!Done()) {
      const auto received = Advance(deadline, -1);
      if (!received) return tl::unexpected(received.error());
      if (*received == UnixSocket::Received::kTimedOut) return Silent();
      body += TakeBody();
      if (body.size() > bytes_max)
        return Fail(
            {doing_, ": the answer is larger than ", std::to_string(bytes_max >> 20), " MiB"});
    }
    if (!Refused()) return body;
    std::string why = Refusal(body);
    if (why.empty()) why = "HTTP status " + std::to_string(parser_.get().result_int());
    return Fail({doing_, ": ", why});
  }

  Result<Event> NextLine(Duration patience, int interrupt_fd, std::string& line) {
    const TimePoint deadline = Clock::now() + patience;
    for (;;) {
      if (Refused()) {
        const Result<std::string> refusal = ReadAll(kLineBytes);
        return tl::unexpected(refusal.error());
      }
      const std::size_t end = pending_.find('\n');
      if (end != std::string::npos || (Done() && !pending_.empty())) {
        line = pending_.substr(0, end);
        pending_.erase(0, end == std::string::npos ? end : end + 1);
        return Event::kLine;
      }
      if (Done()) return Event::kEnd;
      if (pending_.size() > kLineBytes)
        return Fail({doing_, ": a line of the answer is longer than 64 KiB"});
      const auto received =
          Advance(HeaderDone() ? deadline : std::min(deadline, begins_by_), interrupt_fd);
      if (!received) return tl::unexpected(received.error());
      if (*received == UnixSocket::Received::kTimedOut) {
        if (!HeaderDone() && Clock::now() >= begins_by_) return Silent();
        return Event::kNothingYet;
      }
      if (*received == UnixSocket::Received::kInterrupted) return Event::kInterrupted;
      pending_ += TakeBody();
    }
  }

  tl::unexpected<Error> Silent() const {
    return Fail(ETIMEDOUT, {doing_}, "it does not answer; see: journalctl -u rdmapulsed");
  }

 private:
  UnixSocket socket_;
  std::string doing_;
  TimePoint begins_by_ = Clock::now() + kAnswerTime;
  http::response_parser<http::string_body> parser_;
  std::string unparsed_;
  std::string pending_;  // of the body: not yet given out
};

ApiLines::ApiLines(std::unique_ptr<Answer> answer) : answer_(std::move(answer)) {}
ApiLines::ApiLines(ApiLines&&) noexcept = default;
ApiLines& ApiLines::operator=(ApiLines&&) noexcept = default;
ApiLines::~ApiLines() = default;

Result<ApiLines> ApiLines::Start(const std::string& socket, const ApiRequest& request) {
  auto answer = Answer::Start(socket, request);
  if (!answer) return tl::unexpected(answer.error());
  return ApiLines(std::move(*answer));
}

Result<ApiLines::Event> ApiLines::Next(Duration patience, int interrupt_fd, std::string& line) {
  return answer_->NextLine(patience, interrupt_fd, line);
}

Result<bool> StillAnswers(const std::string& socket, Duration patience, int interrupt_fd) {
  Result<ApiLines> lines = ApiLines::Start(socket, {.target = "/api/v1/status"});
  if (!lines) return tl::unexpected(lines.error());
  std::string line;
  const Result<ApiLines::Event> event = lines->Next(patience, interrupt_fd, line);
  if (event && *event == ApiLines::Event::kNothingYet) return lines->answer_->Silent();
  // A refusal is an answer, too; only what the kernel says has a code.
  if (!event && event.error().code) return tl::unexpected(event.error());
  return !event || *event != ApiLines::Event::kInterrupted;
}

Result<std::string> Ask(const std::string& socket, const ApiRequest& request) {
  auto answer = ApiLines::Answer::Start(socket, request);
  if (!answer) return tl::unexpected(answer.error());
  return (*answer)->ReadAll(kBodyBytes);
}

}  // namespace rdmapulse::cli
