// Keeps the lists of all sources of peers fresh: which there are is the configuration's
// `discovery`. Loop thread only; files and DNS are read on threads of their own, and so is what
// they say parsed.
//
// A source that fails keeps the last list that was read well. What the sources know is put together
// with the configured peers by MergePeers (peer_list.h).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/blocking_pool.h"
#include "daemon/discovery/dns_lookup.h"
#include "daemon/discovery/http_fetch.h"
#include "daemon/discovery/source_state.h"
#include "daemon/discovery/status.h"

namespace rdmapulse::discovery {

class FileSource;

class Discovery {
 public:
  struct Options {
    Duration file_interval = std::chrono::seconds(5);  // how often files are asked for changes
    Duration http_timeout = std::chrono::seconds(10);
    // A source that has not answered by then (a file on a server that is gone) is gone on without.
    Duration first_look = std::chrono::seconds(20);
    std::optional<DnsServer> dns_server;  // instead of those in resolv.conf
  };

  // `changed`: the peers of some source are others than before, or it is settled now.
  Discovery(boost::asio::io_context& loop, const Options& options, std::function<void()> changed,
            std::function<void(const SourceState::News&)> journal);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Valid entries. Sources that stay keep their lists; new ones are looked at at once.
  void Configure(const config::Discovery& config);
  // Before it is destroyed, when the loop runs on.
  void Stop();

  // Of every source, in the order of the configuration; empty ones for what was never read.
  std::vector<std::shared_ptr<const TargetList>> Lists() const;
  std::vector<SourceStatus> Status(TimePoint now) const;
  // Every source has been looked at once, well or not, or has had its time for it.
  bool Settled() const;

 private:
  struct Source;
  using Id = std::uint64_t;

  void Add(Kind kind, const std::string& entry, std::vector<std::unique_ptr<Source>>& kept);
  void Look(Id id);
  void LookAtFiles(Source& source);
  void LookAtHttp(Source& source);
  void LookAtDns(Source& source);
  void AfterBody(Id id, const std::string& url, Result<std::string> body);
  void AfterLook(Id id, Fetched fetched);
  void AfterWaitingForFirst(Id id);
  void Arm(Source& source);
  Source* Find(Id id);

  boost::asio::io_context& loop_;
  const Options options_;
  std::function<void()> changed_;
  std::function<void(const SourceState::News&)> journal_;
  // What one waits for must not hold up the others.
  BlockingPool file_pool_;
  BlockingPool dns_pool_;
  BlockingPool parse_pool_;
  Duration refresh_ = std::chrono::minutes(1);
  Id last_id_ = 0;
  bool stopped_ = false;
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace rdmapulse::discovery
