// Fields of the daemon's answers. A field that is missing, null or of another type is unknown: the
// daemon may be older or newer than this tool, and a broken answer must not break the table.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

// An answer's outermost value. `what` names the answer for the error: "the list of ports".
Result<boost::json::object> ParseObject(std::string_view json, std::string_view what);

// Printable; nullopt also for an empty string.
std::optional<std::string> TextField(const boost::json::object& object, std::string_view key);
std::string TextOrDash(const boost::json::object& object, std::string_view key);
std::optional<double> NumberField(const boost::json::object& object, std::string_view key);
std::optional<std::uint64_t> CountField(const boost::json::object& object, std::string_view key);
// A whole number as text, "-" when unknown.
std::string CountOrDash(const boost::json::object& object, std::string_view key);
// "mlx5_0/1", of the fields that name its device and its number; "-" when the device is unknown.
std::string PortName(const boost::json::object& object, std::string_view device,
                     std::string_view port);
std::optional<bool> BoolField(const boost::json::object& object, std::string_view key);
// nullptr: there is no such array.
const boost::json::array* ArrayField(const boost::json::object& object, std::string_view key);
const boost::json::object* ObjectField(const boost::json::object& object, std::string_view key);

// The objects of `array`; whatever else it holds is not ours to show.
std::vector<const boost::json::object*> Objects(const boost::json::array& array);
// The array without which the answer is none.
Result<const boost::json::array*> RequiredArray(const boost::json::object& object,
                                                std::string_view key);

}  // namespace rdmapulse::cli
