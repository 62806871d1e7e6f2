// Lines of a file, plain or gzip, one at a time and none longer than a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::health::trace {

// A row of a trace has some forty short cells.
inline constexpr std::size_t kLineBytesMax = std::size_t{64} * 1024;

class LineReader {
 public:
  virtual ~LineReader() = default;
  // False: the end. The line is without its end ("\n" or "\r\n") and lives until the next call.
  virtual Result<bool> Next(std::string_view& line) = 0;
  virtual const std::string& name() const = 0;
  std::uint64_t number() const { return number_; }  // of the line last read, from 1

 protected:
  std::uint64_t number_ = 0;
};

// Errors: it cannot be opened. Whether it is gzip is seen from its bytes. A gzip file that ends too
// early or is damaged is an error of Next.
Result<std::unique_ptr<LineReader>> OpenLines(const std::string& path);

// Of bytes in memory, which must outlive the reader.
std::unique_ptr<LineReader> LinesOf(std::string name, std::string_view bytes);

}  // namespace rdmapulse::health::trace
