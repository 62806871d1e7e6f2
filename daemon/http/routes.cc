#include "daemon/http/routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/http/api_json.h"
#include "daemon/http/liveness.h"
#include "daemon/metrics/families.h"

namespace rdmapulse::http {
namespace {

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kMetricsProtobufType =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

// The process's own cost must not stand still when the loop does and publishes no snapshot.
constexpr auto kMetricsFresh = std::chrono::seconds(1);

enum class Audience { kEverybody, kApi, kUnixSocket };

struct Place {
  std::string_view path;
  Page page;
  Audience audience;
};

constexpr std::array kPlaces = {
    Place{"/", Page::kIndex, Audience::kApi},
    Place{"/metrics", Page::kMetrics, Audience::kEverybody},
    Place{"/healthz", Page::kHealth, Audience::kEverybody},
    Place{"/readyz", Page::kReady, Audience::kEverybody},
    Place{"/api/v1/status", Page::kStatus, Audience::kApi},
    Place{"/api/v1/ports", Page::kPorts, Audience::kApi},
    Place{"/api/v1/peers", Page::kPeers, Audience::kApi},
    Place{"/api/v1/findings", Page::kFindings, Audience::kApi},
    Place{"/api/v1/findings/trace", Page::kTrace, Audience::kApi},
    Place{"/api/v1/probe", Page::kProbe, Audience::kUnixSocket},
    Place{"/api/v1/probe/scheduled", Page::kScheduled, Audience::kUnixSocket},
    Place{"/api/v1/maintenance", Page::kMaintenance, Audience::kUnixSocket},
};

constexpr std::string_view kIndex =
    "rdmapulse: is RDMA between this host and its peers well, and if not, why?\n"
    "\n"
    "/metrics          everything, for Prometheus\n"
    "/healthz          200 while the daemon's loop turns\n"
    "/readyz           200 once everything was read once\n"
    "/api/v1/status    this daemon, as JSON\n"
    "/api/v1/ports     its RDMA ports\n"
    "/api/v1/peers     its peers and the paths to them\n"
    "/api/v1/findings  what is wrong, with evidence\n"
    "/api/v1/findings/trace?id=ID  the curves of what led to one of them\n"
    "\n"
    "On the Unix socket also: POST /api/v1/probe, POST /api/v1/probe/scheduled,\n"
    "POST /api/v1/maintenance\n";

bool IsRead(std::string_view method) { return method == "GET" || method == "HEAD"; }

Reply WrongMethod(const Place& place) {
  const bool command = place.audience == Audience::kUnixSocket;
  Reply reply = Sentence(405, command ? "this is a command: use POST" : "use GET or HEAD");
  reply.allow = command ? "POST" : "GET, HEAD";
  return reply;
}

Reply Text(const Liveness& liveness) {
  return Sentence(liveness.good ? 200 : 503, liveness.sentence);
}

Reply Body(std::string_view type, std::string body) {
  return {
      .status = 200, .type = type, .body = std::make_shared<const std::string>(std::move(body))};
}

}  // namespace

Reply Sentence(unsigned status, std::string_view sentence) {
  Reply reply = Body(kTextType, std::string(sentence) + '\n');
  reply.status = status;
  return reply;
}

std::string_view QueryOf(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

std::variant<Page, Reply> Route(const RequestLine& request) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const auto place = std::find_if(kPlaces.begin(), kPlaces.end(),
                                  [path](const Place& one) { return one.path == path; });
  const bool command = place != kPlaces.end() && place->audience == Audience::kUnixSocket;
  if (!request.unix_socket && (command || request.method == "POST")) {
    return Sentence(403, "TCP is read-only; commands are taken on the Unix socket (http.socket)");
  }
  // Whoever may not ask the API does not learn what it has either.
  const bool api =
      path.starts_with("/api/") || (place != kPlaces.end() && place->audience == Audience::kApi);
  if (api && !request.unix_socket && !request.api_allowed) {
    return Sentence(403,
                    "only loopback and the networks of http.api_allow may read this; /metrics "
                    "is open to everybody");
  }
  if (place == kPlaces.end()) return Sentence(404, "there is no such page; / lists what there is");
  if (command ? request.method != "POST" : !IsRead(request.method)) return WrongMethod(*place);
  return place->page;
}

Reply ReadPage(Page page, const Snapshot& snapshot, TimePoint now) {
  switch (page) {
    case Page::kIndex: return Body(kTextType, std::string(kIndex));
    case Page::kHealth: return Text(Health(snapshot, now));
    case Page::kReady: return Text(Readiness(snapshot));
    case Page::kStatus: return Body(kJsonType, StatusJson(snapshot, now));
    case Page::kPorts: return Body(kJsonType, PortsJson(snapshot));
    case Page::kPeers: return Body(kJsonType, PeersJson(snapshot));
    case Page::kFindings: return Body(kJsonType, FindingsJson(snapshot));
    case Page::kMetrics:
    case Page::kTrace:
    case Page::kProbe:
    case Page::kScheduled:
    case Page::kMaintenance: break;
  }
  return Sentence(500, "this page is not read from the snapshot");
}

Reply MetricsPage::Read(const std::shared_ptr<const Snapshot>& snapshot, MetricsFormat format,
                        TimePoint now) {
  const bool protobuf = format == MetricsFormat::kProtobuf;
  Rendered& page = protobuf ? protobuf_ : text_;
  if (snapshot != page.of || now - page.at >= kMetricsFresh) {
    const auto render = protobuf ? metrics::RenderProtobuf : metrics::RenderText;
    page.body = std::make_shared<const std::string>(render(*snapshot, metrics::ReadProcessStats()));
    page.of = snapshot;
    page.at = now;
  }
  return {.status = 200,
          .type = protobuf ? kMetricsProtobufType : kMetricsType,
          .body = page.body,
          .allow = {}};
}

}  // namespace rdmapulse::http
