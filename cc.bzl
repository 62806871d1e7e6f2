"""C++ rules of this project: the warnings live here, so no BUILD file repeats them."""

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wnon-virtual-dtor",
    "-Wold-style-cast",
    "-Werror",
]

def rdmapulse_cc_library(name, copts = [], **kwargs):
    native.cc_library(name = name, copts = _COPTS + copts, **kwargs)

def rdmapulse_cc_binary(name, copts = [], **kwargs):
    native.cc_binary(name = name, copts = _COPTS + copts, **kwargs)

def rdmapulse_cc_test(name, size = "small", copts = [], deps = [], **kwargs):
    native.cc_test(
        name = name,
        size = size,
        copts = _COPTS + copts,
        deps = deps + ["//:gtest_main"],
        linkstatic = True,
        **kwargs
    )

def rdmapulse_cc_fuzz(name, srcs, corpus, deps, tags = [], **kwargs):
    """A libFuzzer target (`--config=fuzz`) and a test that replays its corpus in every other run.

    Args:
      name: ends in _fuzz.
      srcs: defines LLVMFuzzerTestOneInput.
      corpus: files that are tried as they are by NAME_corpus_test.
      deps: what is fuzzed.
      tags: of the fuzzer; it is manual anyway, since only clang links it.
      **kwargs: of cc_binary and cc_test alike.
    """
    if not name.endswith("_fuzz"):
        fail("a fuzz target's name ends in _fuzz: " + name)
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _COPTS,
        deps = deps,
        testonly = True,
        linkstatic = True,
        tags = tags + ["manual", "fuzz"],
        **kwargs
    )
    rdmapulse_cc_test(
        name = name.replace("_fuzz", "_corpus_test"),
        srcs = srcs,
        data = corpus,
        deps = deps + ["//tests/fuzz:replay_corpus"],
        args = ["$(locations {})".format(f) for f in corpus],
        **kwargs
    )
