#include "daemon/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "daemon/base/time.h"
#include "probes/token_bucket.h"

namespace rdmapulse {
namespace {

constexpr double kLinesPerSecond = 20;
constexpr double kLinesBurst = 200;

std::string_view Priority(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug: return "<7>";
    case spdlog::level::info: return "<6>";
    case spdlog::level::warn: return "<4>";
    case spdlog::level::err: return "<3>";
    default: return "<2>";
  }
}

// stderr is unbuffered, so that the last line before a crash is there.
class JournalSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JournalSink(bool priorities) : priorities_(priorities) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!bucket_.Take(Clock::now())) {
      ++held_;
      return;
    }
    if (held_ > 0) {
      Write(spdlog::level::warn, std::to_string(held_) + " lines were held back\n");
      held_ = 0;
    }
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    Write(message.level, std::string_view(text.data(), text.size()));
  }
  void flush_() override {}

 private:
  void Write(spdlog::level::level_enum level, std::string_view line) {
    std::string whole(priorities_ ? Priority(level) : std::string_view());
    whole += line;
    std::fwrite(whole.data(), 1, whole.size(), stderr);
  }

  bool priorities_;
  probes::TokenBucket bucket_{kLinesPerSecond, kLinesBurst};
  std::uint64_t held_ = 0;
};

}  // namespace

void SetUpLog(const std::string& level) {
  const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  auto logger =
      std::make_shared<spdlog::logger>("rdmapulsed", std::make_shared<JournalSink>(journal));
  logger->set_pattern(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e %-7l %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace rdmapulse
