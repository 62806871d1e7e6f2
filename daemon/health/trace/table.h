// A CSV file of a trace (design 5.3): a header, then rows; columns by name, in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/health/trace/line_reader.h"

namespace rdmapulse::health::trace {

class Table {
 public:
  // Reads the header. Errors: there is none, a name twice.
  static Result<Table> Open(std::unique_ptr<LineReader> lines);

  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<std::size_t> Find(std::string_view column) const;

  // False: the end. Empty lines are passed over. Errors: not as many cells as the header.
  Result<bool> Next();
  std::string_view cell(std::size_t column) const { return cells_[column]; }
  std::string_view cell(std::optional<std::size_t> column) const {
    return column ? cells_[*column] : std::string_view();
  }

  // "hosts.csv:12"
  std::string Here() const;
  tl::unexpected<Error> Bad(std::size_t column, std::string_view why) const;

  // Of a cell, nullopt when it is empty; a whole number may be written with a fraction, which is
  // cut off. Errors: neither a number nor empty, below 0, out of range.
  Result<std::optional<std::uint64_t>> Unsigned(std::size_t column) const;
  Result<std::optional<double>> Number(std::size_t column) const;
  Result<std::optional<bool>> Flag(std::size_t column) const;

 private:
  explicit Table(std::unique_ptr<LineReader> lines) : lines_(std::move(lines)) {}
  bool Split(std::string_view line);

  std::unique_ptr<LineReader> lines_;
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
};

}  // namespace rdmapulse::health::trace
