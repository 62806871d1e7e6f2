#include "daemon/cli/json_fields.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {

namespace json = boost::json;

Result<json::object> ParseObject(std::string_view text, std::string_view what) {
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return Fail({"reading ", what, ": not JSON: ", error.message()});
  json::object* const object = value.if_object();
  if (object == nullptr) return Fail({"reading ", what, ": not a JSON object"});
  return std::move(*object);
}

std::optional<std::string> TextField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr || text->empty()) return std::nullopt;
  return Printable({text->data(), text->size()});
}

std::string TextOrDash(const json::object& object, std::string_view key) {
  return TextField(object, key).value_or(kUnknown);
}

std::optional<double> NumberField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  json::error_code error;
  const auto number = value->to_number<double>(error);
  return error ? std::nullopt : std::optional(number);
}

std::optional<std::uint64_t> CountField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  json::error_code error;
  const auto number = value->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

std::string CountOrDash(const json::object& object, std::string_view key) {
  const std::optional<std::uint64_t> count = CountField(object, key);
  return count ? std::to_string(*count) : kUnknown;
}

std::string PortName(const json::object& object, std::string_view device, std::string_view port) {
  const std::optional<std::string> name = TextField(object, device);
  if (!name) return kUnknown;
  return *name + "/" + CountOrDash(object, port);
}

std::optional<bool> BoolField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  const bool* const flag = value == nullptr ? nullptr : value->if_bool();
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

const json::array* ArrayField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  return value == nullptr ? nullptr : value->if_array();
}

const json::object* ObjectField(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains({key.data(), key.size()});
  return value == nullptr ? nullptr : value->if_object();
}

std::vector<const json::object*> Objects(const json::array& array) {
  std::vector<const json::object*> objects;
  for (const json::value& value : array) {
    if (const json::object* const object = value.if_object()) objects.push_back(object);
  }
  return objects;
}

Result<const json::array*> RequiredArray(const json::object& object, std::string_view key) {
  const json::array* const array = ArrayField(object, key);
  if (array == nullptr) {
    return Fail({"reading the daemon's answer: it has no list \"", key, "\""},
                "are rdmapulse and rdmapulsed of the same version?");
  }
  return array;
}

}  // namespace rdmapulse::cli
