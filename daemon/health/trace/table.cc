#include "daemon/health/trace/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace rdmapulse::health::trace {
namespace {

// The catalogue has 110 signals.
constexpr std::size_t kColumnsMax = 512;
// What an error quotes of a cell.
constexpr std::size_t kQuotedMax = 40;

std::string Quoted(std::string_view cell) {
  std::string text = "\"";
  for (const char c : cell.substr(0, kQuotedMax)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return text + (cell.size() > kQuotedMax ? "…\"" : "\"");
}

// A cell in quotes, as spreadsheets write them; a quote inside one is not for these columns.
std::string_view Unquoted(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell.remove_prefix(1);
    cell.remove_suffix(1);
  }
  return cell;
}

}  // namespace

bool Table::Split(std::string_view line) {
  cells_.clear();
  while (cells_.size() < kColumnsMax) {
    const std::size_t end = line.find(',');
    cells_.push_back(Unquoted(line.substr(0, end)));
    if (end == line.npos) return true;
    line.remove_prefix(end + 1);
  }
  return false;
}

Result<Table> Table::Open(std::unique_ptr<LineReader> lines) {
  Table table(std::move(lines));
  std::string_view line;
  const Result<bool> more = table.lines_->Next(line);
  if (!more) return tl::unexpected(more.error());
  if (!*more) {
    return Fail({"reading ", table.lines_->name(), ": it is empty"},
                "the first line names the columns");
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (!table.Split(line)) {
    return Fail({"reading ", table.Here(), ": more than 512 columns"}, "this is no trace");
  }
  for (const std::string_view cell : table.cells_) {
    if (table.Find(cell)) {
      return Fail({"reading ", table.Here(), ": the column ", Quoted(cell), " is there twice"});
    }
    table.columns_.emplace_back(cell);
  }
  return table;
}

std::optional<std::size_t> Table::Find(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

Result<bool> Table::Next() {
  std::string_view line;
  do {
    Result<bool> more = lines_->Next(line);
    if (!more || !*more) return more;
  } while (line.empty());
  if (!Split(line) || cells_.size() != columns_.size()) {
    return Fail({"reading ", Here(), ": ", std::to_string(cells_.size()),
                 " cells where the header has ", std::to_string(columns_.size())});
  }
  return true;
}

std::string Table::Here() const { return lines_->name() + ":" + std::to_string(lines_->number()); }

tl::unexpected<Error> Table::Bad(std::size_t column, std::string_view why) const {
  return Fail(
      {"reading ", Here(), ", column ", columns_[column], ": ", Quoted(cells_[column]), " ", why});
}

Result<std::optional<double>> Table::Number(std::size_t column) const {
  const std::string_view text = cells_[column];
  if (text.empty()) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(value)) {
    return Bad(column, "is not a number");
  }
  if (value < 0) return Bad(column, "is below 0");
  return value;
}

Result<std::optional<std::uint64_t>> Table::Unsigned(std::size_t column) const {
  const std::string_view text = cells_[column];
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  if (parsed.ec == std::errc::result_out_of_range) return Bad(column, "does not fit 64 bits");
  const auto number = Number(column);
  if (!number) return tl::unexpected(number.error());
  constexpr double kTooLarge = 18446744073709551616.0;  // 2^64
  if (**number >= kTooLarge) return Bad(column, "does not fit 64 bits");
  return static_cast<std::uint64_t>(**number);
}

Result<std::optional<bool>> Table::Flag(std::size_t column) const {
  const std::string_view text = cells_[column];
  if (text.empty()) return std::nullopt;
  if (text == "0" || text == "1") return text == "1";
  return Bad(column, "is neither 0 nor 1");
}

}  // namespace rdmapulse::health::trace
