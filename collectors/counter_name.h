// A counter's name in the kernel's spelling: text that is made once and then shared. The same few
// thousand names travel with every pass from the worker that reads to the thread that exports, so
// that a copy must cost no allocation.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace rdmapulse::collectors {

// Immutable. Copies may be used by several threads at once.
class CounterName {
 public:
  CounterName() = default;  // empty
  // Implicit: a name is a text.
  CounterName(std::string text)  // NOLINT(google-explicit-constructor)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  CounterName(std::string_view text)  // NOLINT(google-explicit-constructor)
      : CounterName(std::string(text)) {}
  CounterName(const char* text)  // NOLINT(google-explicit-constructor)
      : CounterName(std::string(text)) {}

  const std::string& Text() const;
  operator const std::string&() const { return Text(); }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const { return Text(); }    // NOLINT(google-explicit-constructor)

  friend bool operator==(const CounterName& a, const CounterName& b) {
    return a.text_ == b.text_ || a.Text() == b.Text();
  }
  friend bool operator==(const CounterName& a, std::string_view b) { return a.Text() == b; }
  friend bool operator==(const CounterName& a, const std::string& b) { return a.Text() == b; }
  friend bool operator==(const CounterName& a, const char* b) { return a.Text() == b; }
  friend std::ostream& operator<<(std::ostream& out, const CounterName& name) {
    return out << name.Text();
  }

 private:
  std::shared_ptr<const std::string> text_;  // truly shared: worker, loop and HTTP thread
};

inline const std::string& CounterName::Text() const {
  static const std::string empty;
  return text_ ? *text_ : empty;
}

}  // namespace rdmapulse::collectors
