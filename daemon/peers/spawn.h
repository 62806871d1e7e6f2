// What becomes of a coroutine that threw: the exception leaves io_context::run(), as it would from
// a handler. Ours throw for lack of memory only.
#pragma once

#include <exception>

namespace rdmapulse::peers {

inline void Rethrow(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace rdmapulse::peers
