"""Repositories that are written in place or found on the system; nothing is downloaded."""

def forward(*rules):
    """A .bzl that re-exports rules built into Bazel under a rules_* name."""
    return "\n".join(["def {r}(**kwargs):\n    native.{r}(**kwargs)\n".format(r = r) for r in rules])

def _inline_repository_impl(rctx):
    for path, content in rctx.attr.files.items():
        rctx.file(path, content)

inline_repository = repository_rule(
    doc = "A repository whose few files are written here instead of downloaded.",
    implementation = _inline_repository_impl,
    attrs = {"files": attr.string_dict(doc = "path -> content")},
)

def _system_packages_impl(rctx):
    found = []
    missing = []
    for module, package in rctx.attr.packages.items():
        result = rctx.execute(["pkg-config", "--modversion", module])
        if result.return_code == 0:
            found.append("{}-{}".format(module, result.stdout.strip()))
        else:
            missing.append(package)
    if missing:
        fail("missing system packages; run: bash deploy/install_dependencies.sh (or apt-get install " + " ".join(missing) + ")")

    # A define, not a header: Bazel drops inputs that the compiler did not read.
    rctx.file("BUILD.bazel", """
cc_library(
    name = "stamp",
    defines = ["SYSTEM_PACKAGES={}"],
    visibility = ["//visibility:public"],
)
""".format(hash(" ".join(found))))

system_packages = repository_rule(
    doc = "Checks that the system's libraries are there; an upgrade of one rebuilds what uses any.",
    implementation = _system_packages_impl,
    attrs = {"packages": attr.string_dict(doc = "pkg-config module -> Debian package")},
    configure = True,
    local = True,
)
