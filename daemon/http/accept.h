// What a scraper can read, of the Accept field of its request (RFC 9110, 12.5.1). Pure.
#pragma once

#include <string_view>

namespace rdmapulse::http {

enum class MetricsFormat {
  kText,      // exposition format 0.0.4
  kProtobuf,  // delimited io.prometheus.client.MetricFamily, with native histograms
};

// Protobuf only for who names it, and wants it no less than text.
MetricsFormat FormatFor(std::string_view accept);

}  // namespace rdmapulse::http
