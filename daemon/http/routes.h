// Which page a request gets, and the pages themselves. Pure: the caller brings snapshot and time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/http/accept.h"
#include "daemon/metrics/process_stats.h"
#include "daemon/snapshot.h"

namespace rdmapulse::http {

// What routing asks of a request, whose texts it does not own.
struct RequestLine {
  std::string_view method;
  std::string_view target;   // "/api/v1/probe?peer=h2"
  bool unix_socket = false;  // else TCP, which is read-only
  bool api_allowed = false;  // TCP: loopback or a network of http.api_allow
};

enum class Page {
  kIndex,
  kMetrics,
  kHealth,
  kReady,
  kStatus,
  kPorts,
  kPeers,
  kFindings,
  kTrace,        // of one finding; asks the loop
  kProbe,        // a command; Unix socket only
  kScheduled,    // likewise: the scheduled probes as they go
  kMaintenance,  // likewise
};

inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";
inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kJsonLinesType = "application/x-ndjson";

struct Reply {
  unsigned status = 200;
  std::string_view type = kTextType;          // static storage
  std::shared_ptr<const std::string> body{};  // never null once made
  std::string_view allow{};                   // of a 405: methods, static storage
};

// A reply of one sentence.
Reply Sentence(unsigned status, std::string_view sentence);

// The part of a target after '?'; empty when there is none.
std::string_view QueryOf(std::string_view target);

// The page, or the refusal.
std::variant<Page, Reply> Route(const RequestLine& request);

// A page other than /metrics, the commands and what asks the loop.
Reply ReadPage(Page page, const Snapshot& snapshot, TimePoint now);

// /metrics, rendered once for a snapshot and format however many ask. HTTP thread.
class MetricsPage {
 public:
  Reply Read(const std::shared_ptr<const Snapshot>& snapshot, MetricsFormat format, TimePoint now);

 private:
  struct Rendered {
    std::shared_ptr<const Snapshot> of;  // held, so that no other can have its address
    std::shared_ptr<const std::string> body;
    TimePoint at;
  };
  Rendered text_;
  Rendered protobuf_;
};

}  // namespace rdmapulse::http
