// How a function here says that it could not do its work. A lost probe, a port that is down or an
// absent counter is data and never an Error; an Error is "I could not look".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace rdmapulse {

struct Error {
  std::error_code code;  // empty when the failure is not a system error: then `doing` says all
  std::string doing;     // what was attempted, on what: "ibv_alloc_pd on mlx5_0"
  std::string advice;    // what to do about it; may be empty

  // One sentence: "opening /dev/infiniband/uverbs0: Permission denied; run as …".
  std::string Text() const {
    std::string text = doing;
    if (code) text += ": " + code.message();
    if (!advice.empty()) text += "; " + advice;
    return text;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

// Takes the text in pieces: building a string in the call could disturb errno first.
inline tl::unexpected<Error> Fail(int code, std::initializer_list<std::string_view> doing,
                                  std::string_view advice = {}) {
  Error error{{code, std::generic_category()}, {}, std::string(advice)};
  for (const std::string_view piece : doing) error.doing += piece;
  return tl::unexpected<Error>(std::move(error));
}

// A failure without an errno: bytes that do not decode, a rule that does not hold.
inline tl::unexpected<Error> Fail(std::initializer_list<std::string_view> doing,
                                  std::string_view advice = {}) {
  return Fail(0, doing, advice);
}

}  // namespace rdmapulse
