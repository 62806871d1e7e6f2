// What is wrong with one configuration so far, and where its keys stand in the text.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/problem.h"

namespace rdmapulse::config {

// More problems than these are counted, not kept: nobody reads on.
inline constexpr std::size_t kProblemsMax = 100;

// The path of `name` inside `key`: "http" and "listen" give "http.listen". A name that is no plain
// word is quoted: host.labels."a b".
std::string Under(const std::string& key, std::string_view name);

class Report {
 public:
  // `key` is a path: "classes.lossless.dscp", "peers[2].address" (items count from 0).
  void Locate(const std::string& key, Position position);

  // Placed where `key` stands, or where the nearest key around it does.
  void Error(const std::string& key, std::string message);
  void Warn(const std::string& key, std::string message);
  // For what has a place but is no key of ours: a misspelt one, the second of two.
  void ErrorAt(Position position, const std::string& key, std::string message);

  // Whether `key` itself or anything in it is wrong, so that rules which compare it with others
  // stay silent.
  bool Failed(const std::string& key) const;
  // 0:0 when neither the key nor any around it is in the text.
  Position PositionOf(std::string_view key) const;

  // By line, and past the limit one more that says how many are not listed.
  std::vector<Problem> Sorted() const;

 private:
  void Add(Problem problem);

  std::map<std::string, Position, std::less<>> positions_;
  std::set<std::string, std::less<>> failed_;
  std::vector<Problem> problems_;
  std::size_t dropped_ = 0;
  Problem first_dropped_;
};

}  // namespace rdmapulse::config
