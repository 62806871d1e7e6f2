// Feeds each file that is named as an argument to a fuzz target, so that its corpus is a test in
// every build, also where no fuzzer can be linked.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "replay_corpus: no files given: an empty corpus tests nothing\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
      std::cerr << "replay_corpus: cannot read " << argv[i] << "\n";
      return 2;
    }
    LLVMFuzzerTestOneInput(static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data())),
                           bytes.size());
  }
  std::cout << "replay_corpus: " << argc - 1 << " files\n";
  return 0;
}
