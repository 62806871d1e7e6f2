#include "daemon/recordings.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/recorder/curves.h"

namespace rdmapulse {
namespace {

using http::TraceAnswer;

// Off the loop.
TraceAnswer AnswerOf(const recorder::Recording& recording, const health::Finding& finding) {
  const auto curves = recorder::CurvesOf(recording, finding);
  if (!curves) return {500, curves.error().Text()};
  if (!*curves) {
    return {404, "the flight recorder holds nothing of what " + finding.id + " is about"};
  }
  return {200, recorder::Json(**curves, finding)};
}

}  // namespace

Recordings::Recordings(boost::asio::io_context& loop, const config::Recorder& settings,
                       Source source)
    : loop_(loop),
      source_(std::move(source)),
      store_(settings),
      pool_(loop, 1, Urgency::kBackground) {}

void Recordings::Save(recorder::Recording recording, const health::Finding& finding) {
  pool_.Run([&store = store_, recording = std::move(recording),
             finding] { return store.Save(recording, finding); },
            [this, id = finding.id](const Result<std::string>& saved) {
              if (saved) {
                ++saved_;
                spdlog::info("finding {}: what led to it is in {}", id, *saved);
              } else {
                ++failed_;
                spdlog::warn("finding {}: {}", id, saved.error().Text());
              }
            });
}

void Recordings::Draw(const std::string& id, std::function<void(TraceAnswer)> handler) {
  boost::asio::post(loop_, [this, id, handler = std::move(handler)] { Begin(id, handler); });
}

void Recordings::Begin(const std::string& id, const std::function<void(TraceAnswer)>& handler) {
  const auto findings = source_.findings();
  const auto finding = std::find_if(findings->begin(), findings->end(),
                                    [&id](const auto& one) { return one.id == id; });
  if (finding == findings->end()) {
    return handler(
        {404, "there is no finding of this id now; those that are over are in the journal"});
  }
  if (drawn_ >= kDrawnAtOnceMax) {
    return handler({503, "too many ask for what led to a finding; try again in a few seconds"});
  }
  ++drawn_;
  pool_.Run(
      [recording = source_.take(), finding = *finding] { return AnswerOf(recording, finding); },
      [this, handler](TraceAnswer answer) {
        --drawn_;
        handler(std::move(answer));
      });
}

}  // namespace rdmapulse
