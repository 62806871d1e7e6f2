// What is known of one source of peers: its last good list, since when, and what to tell people.
// Pure: time is an argument.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/discovery/target_list.h"

namespace rdmapulse::discovery {

// What one look at a source brought. Both may be set: some files of a pattern were read, one was
// not.
struct Fetched {
  std::optional<TargetList> list;  // nullopt: as it was
  std::string failure;             // a sentence; empty: all was read well
};

class SourceState {
 public:
  // A line for the journal.
  struct News {
    bool trouble = false;  // something is not as the operator wants it
    std::string text{};

    bool operator==(const News&) const = default;
  };

  // `subject` begins every line: "discovery.file /etc/rdmapulse/peers.json".
  explicit SourceState(std::string subject) : subject_(std::move(subject)) {}

  // True: the peers are others than before. A failure keeps those that are there.
  bool Take(Fetched fetched, TimePoint now);

  // The list in use; it never changes, so that other threads may read it.
  std::shared_ptr<const TargetList> list() const { return list_; }
  // Of the last look; nullopt: there was none yet.
  std::optional<bool> success() const { return success_; }
  // Since everything was read well; nullopt: it never was.
  std::optional<Duration> Age(TimePoint now) const;
  // Since the last call: each failure, recovery and list of problems once.
  std::vector<News> TakeNews();
  const std::string& subject() const { return subject_; }

 private:
  void Say(bool trouble, const std::string& what);
  void SayProblems();
  std::string ListText() const;

  std::string subject_;
  std::shared_ptr<const TargetList> list_ = std::make_shared<const TargetList>();
  std::optional<bool> success_;
  std::optional<TimePoint> good_;
  std::string failure_;
  std::vector<std::string> said_problems_;
  std::vector<News> news_;
};

}  // namespace rdmapulse::discovery
