// JSON as iproute2 and ethtool print it. Pure.
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collectors/port_qos.h"
#include "collectors/recorded/tool_text.h"
#include "daemon/base/result.h"

namespace rdmapulse::collectors::recorded {

using Json = boost::json::value;

// The error is one clause with the place: "not JSON: syntax error at byte 17".
Result<Json> ParseJson(std::string_view text);

// The document, or the one object of the array that the document is; nullptr: neither.
const boost::json::object* OnlyObject(const Json& document);

// nullptr or nullopt: no such key, or a value of another type. Keys are compared with '_' for '-',
// which versions of the tools differ in.
const Json* At(const boost::json::object& object, std::string_view key);
const boost::json::object* ObjectAt(const boost::json::object& object, std::string_view key);
const boost::json::array* ArrayAt(const boost::json::object& object, std::string_view key);
std::optional<bool> BoolAt(const boost::json::object& object, std::string_view key);  // also "on"
std::optional<std::uint64_t> NumberAt(const boost::json::object& object, std::string_view key);
std::optional<std::uint64_t> NumberOf(const Json& value);

// A member that ought to be a counter.
void AddJsonValue(std::string_view name, const Json& value, NamedValues& values);

}  // namespace rdmapulse::collectors::recorded
