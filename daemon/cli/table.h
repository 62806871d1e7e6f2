// Text for a terminal: aligned columns, wrapped notes. Pure; strings are UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rdmapulse::cli {

inline constexpr std::size_t kTerminalColumns = 80;

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

struct Row {
  std::vector<std::string> cells;  // missing ones are empty
  std::string note;                // stands below the row, indented and wrapped; empty: none
};

// A title line, then the rows; columns as wide as their widest cell, two blanks between them, no
// blanks at the end of a line. A column whose every cell and title is empty takes no room.
std::string RenderTable(const std::vector<Column>& columns, const std::vector<Row>& rows);

// `text` in lines of at most kTerminalColumns, each behind `indent` blanks. A longer word keeps a
// line of its own.
std::string Wrap(std::string_view text, std::size_t indent);

// Columns that `text` takes: its code points. Nothing here prints wide or combining characters.
std::size_t Width(std::string_view text);

// What comes from elsewhere and goes to a terminal: control characters become '?'.
std::string Printable(std::string_view text);

// A row's note is made of parts.
void AppendNote(const std::string& more, std::string& note);

}  // namespace rdmapulse::cli
