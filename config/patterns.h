// A list of regular expressions, of which any may match: `devices`, `ports` and `collect`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace rdmapulse::config {

// Move-only; a moved-from one matches nothing. Any thread, one at a time.
class Patterns {
 public:
  Patterns();  // matches nothing
  Patterns(Patterns&&) noexcept;
  Patterns& operator=(Patterns&&) noexcept;
  ~Patterns();

  // ECMAScript. Fails with a sentence about the first pattern that does not compile or is longer
  // than 256 bytes.
  static Result<Patterns> Compile(const std::vector<std::string>& patterns);

  // Whether one of them matches the whole of `text`. Longer texts than 256 bytes match nothing: the
  // library's matcher takes stack for every byte.
  bool MatchesAny(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace rdmapulse::config
