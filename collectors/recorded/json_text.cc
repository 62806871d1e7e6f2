#include "collectors/recorded/json_text.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/stream_parser.hpp>
#include <string>

#include "collectors/kernel_files.h"

namespace rdmapulse::collectors::recorded {
namespace {

// The tools nest three deep; what nests deeper only wants our stack.
constexpr std::size_t kMaxDepth = 16;

bool SameKey(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return x == y || ((x == '-' || x == '_') && (y == '-' || y == '_'));
  });
}

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::stream_parser parser({}, options);
  boost::json::error_code error;
  const std::size_t used = parser.write(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  if (error) {
    // Past the text that could be used nothing was understood.
    return Fail({"not JSON: ", error.message(), " near byte ", std::to_string(used)});
  }
  return parser.release();
}

const boost::json::object* OnlyObject(const Json& document) {
  if (const auto* const array = document.if_array()) {
    return array->size() == 1 ? array->front().if_object() : nullptr;
  }
  return document.if_object();
}

const Json* At(const boost::json::object& object, std::string_view key) {
  const auto found = std::find_if(object.begin(), object.end(), [key](const auto& member) {
    return SameKey(std::string_view(member.key().data(), member.key().size()), key);
  });
  return found == object.end() ? nullptr : &found->value();
}

const boost::json::object* ObjectAt(const boost::json::object& object, std::string_view key) {
  const Json* const value = At(object, key);
  return value == nullptr ? nullptr : value->if_object();
}

const boost::json::array* ArrayAt(const boost::json::object& object, std::string_view key) {
  const Json* const value = At(object, key);
  return value == nullptr ? nullptr : value->if_array();
}

std::optional<bool> BoolAt(const boost::json::object& object, std::string_view key) {
  const Json* const value = At(object, key);
  if (value == nullptr) return std::nullopt;
  if (const bool* const on = value->if_bool()) return *on;
  if (const auto* const word = value->if_string()) {
    if (*word == "on") return true;
    if (*word == "off") return false;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> NumberOf(const Json& value) {
  // A number that fits a signed one is one, whatever its sign would need.
  if (const std::int64_t* const number = value.if_int64()) {
    return *number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*number));
  }
  if (const std::uint64_t* const number = value.if_uint64()) return *number;
  return std::nullopt;
}

std::optional<std::uint64_t> NumberAt(const boost::json::object& object, std::string_view key) {
  const Json* const value = At(object, key);
  return value == nullptr ? std::nullopt : NumberOf(*value);
}

void AddJsonValue(std::string_view name, const Json& value, NamedValues& values) {
  if (const auto number = NumberOf(value)) return values.Add(name, *number);
  if (const auto* const text = value.if_string()) return values.Add(name, std::string_view(*text));
  values.Complain(name, "not a counter: " + Printable(boost::json::serialize(value)));
}

}  // namespace rdmapulse::collectors::recorded
