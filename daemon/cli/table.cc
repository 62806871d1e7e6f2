#include "daemon/cli/table.h"

#include <algorithm>

namespace rdmapulse::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNoteIndent = 4;

unsigned char Byte(char c) { return static_cast<unsigned char>(c); }

const std::string& Cell(const Row& row, std::size_t column) {
  static const std::string empty;
  return column < row.cells.size() ? row.cells[column] : empty;
}

void AppendCell(const std::string& text, std::size_t width, Align align, std::string& line) {
  const std::string padding(width - std::min(width, Width(text)), ' ');
  line += align == Align::kRight ? padding + text : text + padding;
}

void AppendLine(std::string line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line;
  out += '\n';
}

}  // namespace

std::string RenderTable(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = Width(columns[i].title);
    for (const Row& row : rows) width = std::max(width, Width(Cell(row, i)));
    widths.push_back(width);
  }
  Row titles;
  for (const Column& column : columns) titles.cells.push_back(column.title);

  std::string out;
  const auto append_row = [&out, &columns, &widths](const Row& row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!line.empty()) line.append(kGap, ' ');
      AppendCell(Cell(row, i), widths[i], columns[i].align, line);
    }
    AppendLine(std::move(line), out);
    if (!row.note.empty()) out += Wrap(row.note, kNoteIndent);
  };
  append_row(titles);
  for (const Row& row : rows) append_row(row);
  return out;
}

std::string Wrap(std::string_view text, std::size_t indent) {
  std::string out;
  std::string line;
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(" \n", begin)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && indent + Width(line) + 1 + Width(word) > kTerminalColumns) {
      out += std::string(indent, ' ') + line + '\n';
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    begin = end;
  }
  if (!line.empty()) out += std::string(indent, ' ') + line + '\n';
  return out;
}

std::size_t Width(std::string_view text) {
  // All bytes but UTF-8's continuations, 10xxxxxx.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (Byte(c) & 0xC0U) != 0x80U; }));
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = Byte(text[i]);
    const unsigned char next = i + 1 < text.size() ? Byte(text[i + 1]) : 0;
    if (c == 0xC2 && next >= 0x80 && next < 0xA0) {  // C1: U+0080 to U+009F, among them CSI
      out += '?';
      ++i;
    } else {
      out += c < 0x20 || c == 0x7F ? '?' : text[i];
    }
  }
  return out;
}

void AppendNote(const std::string& more, std::string& note) {
  if (!note.empty()) note += "; ";
  note += more;
}

}  // namespace rdmapulse::cli
