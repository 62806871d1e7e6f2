// One value of the file read as the type that its option has. What does not fit is reported under
// the key's path, and the option keeps what it had.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/document.h"
#include "config/report.h"

namespace rdmapulse::config {

// Confined to one walk over one document.
struct Value {
  const Node& node;
  const std::string& key;  // "classes.lossless.dscp"
  Report& report;

  void Error(std::string message) const { report.Error(key, std::move(message)); }
};

// A whole number's bounds, both allowed, and the noun of the message: "70 is not a DSCP; …".
struct Bounds {
  std::uint32_t min = 0;
  std::uint32_t max = 0;
  std::string_view noun = "a number that fits here";
};

struct DurationBounds {
  std::chrono::milliseconds min;
  std::chrono::milliseconds max;
};

// A number with or without a fraction: 0.9, 1e-7, 5.
struct NumberBounds {
  double min = 0;
  double max = 0;
  std::string_view noun;
};

std::optional<std::uint32_t> ReadNumber(const Value& value, const Bounds& bounds);

template <typename Number>
void Read(const Value& value, const Bounds& bounds, Number& out) {
  if (const auto number = ReadNumber(value, bounds)) out = static_cast<Number>(*number);
}

void Read(const Value& value, const NumberBounds& bounds, double& out);
void Read(const Value& value, bool& out);
void Read(const Value& value, std::string& out);
void Read(const Value& value, const DurationBounds& bounds, std::chrono::milliseconds& out);
void ReadBytes(const Value& value, std::uint64_t& out);
// One of a few words.
void ReadChoice(const Value& value, std::span<const std::string_view> choices, std::string& out);
// A list replaces the default as a whole; "nothing after the colon" is an empty file's default.
void Read(const Value& value, std::vector<std::string>& out);
// Labels are added to the default ones.
void Read(const Value& value, Labels& out);

// The entries of a mapping, each key once, with its path located; nothing for an empty value. False
// (and reported): not a mapping. `example` shows how it is written.
bool ForEachEntry(const Value& value, std::string_view example,
                  const std::function<void(const std::string& name, const Value& entry)>& visit);
// The items of a list. False (and reported): not a list, or too long.
bool ForEachItem(const Value& value, std::string_view example,
                 const std::function<void(const Value& item)>& visit);

}  // namespace rdmapulse::config
