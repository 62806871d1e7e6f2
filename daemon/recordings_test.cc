#include "daemon/recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/recorder/test_host.h"

namespace rdmapulse {
namespace {

using http::TraceAnswer;
using testing::StartsWith;

class RecordingsTest : public testing::Test {
 protected:
  RecordingsTest() {
    for (int i = 0; i < 20; ++i) host_.Second(false);
    for (int i = 0; i < 3; ++i) host_.Second(true);
    findings_ = std::make_shared<const std::vector<health::Finding>>(host_.engine.Findings());
  }

  std::string StormId() const {
    for (const health::Finding& finding : *findings_) {
      if (finding.condition == health::Condition::kStormSource) return finding.id;
    }
    ADD_FAILURE() << "no storm was found";
    return {};
  }
  // Runs the loop until everything is answered.
  std::vector<TraceAnswer> Ask(const std::vector<std::string>& ids) {
    std::vector<TraceAnswer> answers;
    for (const std::string& id : ids) {
      recordings_.Draw(id,
                       [&answers](TraceAnswer answer) { answers.push_back(std::move(answer)); });
    }
    EXPECT_TRUE(answers.empty()) << "the loop is asked, not the caller's thread";
    loop_.restart();
    loop_.run();
    return answers;
  }

  recorder::TestHost host_{config::Recorder{}};
  std::shared_ptr<const std::vector<health::Finding>> findings_;
  int taken_ = 0;
  boost::asio::io_context loop_{1};
  Recordings recordings_{loop_,
                         config::Recorder{},
                         {.findings = [this] { return findings_; },
                          .take =
                              [this] {
                                ++taken_;
                                return host_.recorder.Take();
                              }}};
};

TEST_F(RecordingsTest, DrawsWhatLedToAFinding) {
  const auto answers = Ask({StormId()});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 200U) << answers[0].text;
  EXPECT_THAT(answers[0].text, StartsWith("{\"id\":\"" + StormId() + "\",\"begin_us\":"));
}

TEST_F(RecordingsTest, AnUnknownFindingCostsNoCopyOfTheRing) {
  const auto answers = Ask({"h1-x-1"});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 404U);
  EXPECT_EQ(answers[0].text,
            "there is no finding of this id now; those that are over are in the journal");
  EXPECT_EQ(taken_, 0);
}

TEST_F(RecordingsTest, AFindingOfWhichTheRingHoldsNothingIsSaid) {
  health::Finding other = findings_->front();
  other.id = "h1-peer_down-h9-1";
  other.condition = health::Condition::kPeerDown;
  other.subject = {.port = {}, .priority = {}, .peer = "h9", .traffic_class = {}};
  findings_ = std::make_shared<const std::vector<health::Finding>>(std::vector{other});
  const auto answers = Ask({other.id});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 404U);
  EXPECT_EQ(answers[0].text,
            "the flight recorder holds nothing of what h1-peer_down-h9-1 is about");
}

TEST_F(RecordingsTest, NoMoreThanAFewAtATime) {
  const std::vector<std::string> ids(Recordings::kDrawnAtOnceMax + 1, StormId());
  auto answers = Ask(ids);
  ASSERT_EQ(answers.size(), ids.size());
  EXPECT_EQ(answers[0].status, 503U) << "at once, before any work is done";
  EXPECT_EQ(answers[0].text, "too many ask for what led to a finding; try again in a few seconds");
  for (std::size_t i = 1; i < answers.size(); ++i) EXPECT_EQ(answers[i].status, 200U);
  answers = Ask({StormId()});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].status, 200U) << "those that are done count no more";
}

TEST_F(RecordingsTest, AfterTheEndNothingIsAnsweredAndNothingHoldsTheLoop) {
  recordings_.Stop();
  EXPECT_TRUE(Ask({StormId()}).empty());
}

}  // namespace
}  // namespace rdmapulse
