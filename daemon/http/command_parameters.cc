#include "daemon/http/command_parameters.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace rdmapulse::http {
namespace {

namespace json = boost::json;

using Parameters = std::map<std::string, std::string>;

constexpr std::size_t kParametersMax = 16;  // there are six; more is a mistake
constexpr std::size_t kPeerBytesMax = 256;  // longer than any host name (253)
constexpr std::size_t kIdBytesMax = 1024;   // host, condition, device and peer by name
constexpr std::uint32_t kCountMax = 1'000'000;
// 100 a second stays below the default budget of one NIC; an hour is no ping any more.
constexpr double kIntervalMin = 0.01;
constexpr double kIntervalMax = 3600;

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      std::uint8_t byte = 0;
      const std::string_view digits = text.substr(i + 1, 2);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) {
        return std::nullopt;
      }
      decoded += static_cast<char>(byte);
      i += 2;
    }
  }
  return decoded;
}

Result<void> Add(Parameters& parameters, std::string name, std::string value) {
  if (parameters.size() == kParametersMax) return Fail({"reading the parameters: more than 16"});
  if (parameters.contains(name)) return Fail({"reading the parameters: ", name, " is given twice"});
  parameters.emplace(std::move(name), std::move(value));
  return {};
}

Result<void> AddQuery(Parameters& parameters, std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = PercentDecoded(pair.substr(0, equals));
    auto value = PercentDecoded(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    if (!name || !value) {
      return Fail({"reading the query: '", pair,
                   "' has a % that two hexadecimal digits do not "
                   "follow"});
    }
    if (auto added = Add(parameters, *std::move(name), *std::move(value)); !added) return added;
  }
  return {};
}

Result<void> AddBody(Parameters& parameters, std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
  json::error_code error;
  const json::value document = json::parse(json::string_view(body.data(), body.size()), error);
  if (error) return Fail({"reading the body: not JSON: ", error.message()});
  const json::object* object = document.if_object();
  if (object == nullptr) return Fail({"reading the body: not a JSON object"});
  for (const auto& member : *object) {
    std::string name(member.key());
    const json::value& value = member.value();
    if (!value.is_string() && !value.is_number() && !value.is_bool()) {
      return Fail({"reading the body: ", name, " is not a text, a number, true or false"});
    }
    std::string text = value.is_string() ? std::string(value.get_string()) : json::serialize(value);
    if (auto added = Add(parameters, std::move(name), std::move(text)); !added) return added;
  }
  return {};
}

// All parameters, of which each must be one of `known`.
Result<Parameters> ReadParameters(std::string_view query, std::string_view body,
                                  std::initializer_list<std::string_view> known) {
  Parameters parameters;
  if (auto read = AddQuery(parameters, query); !read) return tl::unexpected(read.error());
  if (auto read = AddBody(parameters, body); !read) return tl::unexpected(read.error());
  for (const auto& [name, value] : parameters) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string_view one : known)
      names += (names.empty() ? "" : ", ") + std::string(one);
    return Fail({"reading the parameters: there is none called '", name, "'"},
                "there are: " + names);
  }
  return parameters;
}

// A parameter's text; nullptr: not given.
const std::string* Given(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? nullptr : &found->second;
}

Result<void> ReadNumbers(const Parameters& parameters, ProbeRequest& request) {
  if (const std::string* text = Given(parameters, "count")) {
    const auto count = ParseNumber<std::uint32_t>(*text);
    if (!count || *count > kCountMax) {
      return Fail({"reading count: '", *text, "' is not a whole number from 0 to 1000000"});
    }
    request.count = *count;
  }
  if (const std::string* text = Given(parameters, "interval")) {
    const auto seconds = ParseNumber<double>(*text);
    // Written so that NaN fails too.
    if (!seconds || !(*seconds >= kIntervalMin && *seconds <= kIntervalMax)) {
      return Fail({"reading interval: '", *text, "' is not a number of seconds from 0.01 to 3600"});
    }
    request.interval = std::chrono::nanoseconds(std::llround(*seconds * 1e9));
  }
  return {};
}

// False when it is not given.
Result<bool> ReadTruth(const Parameters& parameters, const std::string& name) {
  const std::string* text = Given(parameters, name);
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return Fail({"reading ", name, ": '", *text, "' is neither true nor false"});
}

}  // namespace

Result<ProbeRequest> ParseProbeRequest(std::string_view query, std::string_view body) {
  const auto parameters =
      ReadParameters(query, body, {"peer", "op", "class", "count", "interval", "trace"});
  if (!parameters) return tl::unexpected(parameters.error());

  ProbeRequest request;
  const std::string* peer = Given(*parameters, "peer");
  if (peer == nullptr || peer->empty()) {
    return Fail({"reading the parameters: peer is missing"}, "say which peer to probe");
  }
  if (peer->size() > kPeerBytesMax) return Fail({"reading peer: longer than 256 bytes"});
  request.peer = *peer;
  if (const std::string* text = Given(*parameters, "op")) {
    const auto op = probes::ParseOp(*text);
    if (!op) return Fail({"reading op: '", *text, "' is none of ", probes::OpNames()});
    request.op = *op;
  }
  if (const std::string* text = Given(*parameters, "class")) {
    const auto traffic_class = probes::ParseClass(*text);
    if (!traffic_class)
      return Fail({"reading class: '", *text, "' is neither lossless nor control"});
    request.traffic_class = *traffic_class;
  }
  if (auto read = ReadNumbers(*parameters, request); !read) return tl::unexpected(read.error());
  const Result<bool> trace = ReadTruth(*parameters, "trace");
  if (!trace) return tl::unexpected(trace.error());
  request.trace = *trace;
  return request;
}

Result<bool> ParseMaintenance(std::string_view query, std::string_view body) {
  const auto parameters = ReadParameters(query, body, {"on"});
  if (!parameters) return tl::unexpected(parameters.error());
  if (Given(*parameters, "on") == nullptr) {
    return Fail({"reading the parameters: on is missing"}, "say true or false");
  }
  return ReadTruth(*parameters, "on");
}

Result<std::string> ParseTraceId(std::string_view query) {
  const auto parameters = ReadParameters(query, "", {"id"});
  if (!parameters) return tl::unexpected(parameters.error());
  const std::string* id = Given(*parameters, "id");
  if (id == nullptr || id->empty()) {
    return Fail({"reading the parameters: id is missing"}, "say of which finding");
  }
  if (id->size() > kIdBytesMax) return Fail({"reading id: longer than 1024 bytes"});
  return *id;
}

}  // namespace rdmapulse::http
