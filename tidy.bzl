"""clang-tidy as an aspect: once a file, cached like a compile; `bazel build --config=tidy //...`."""

def _clang_tidy_impl(target, ctx):
    if CcInfo not in target or target.label.workspace_name or "notidy" in ctx.rule.attr.tags:
        return []
    sources = [
        f
        for attr in ["srcs", "hdrs"]
        for dep in getattr(ctx.rule.attr, attr, [])
        for f in dep.files.to_list()
        if f.is_source and f.extension in ["cc", "h"]
    ]
    compilation = target[CcInfo].compilation_context
    flags = ["-xc++", "-std=c++20", "-I.", "-I" + ctx.bin_dir.path]
    flags += ["-D" + d for d in compilation.defines.to_list()]
    stamps = []
    for source in sources:
        stamp = ctx.actions.declare_file("{}.{}.tidy".format(ctx.label.name, source.basename))
        ctx.actions.run_shell(
            inputs = depset([source, ctx.file._config], transitive = [compilation.headers]),
            outputs = [stamp],
            mnemonic = "ClangTidy",
            command = 'clang-tidy --quiet --warnings-as-errors="*" --config-file="$1" "$2" -- "${@:4}" 2>/dev/null && touch "$3"',
            arguments = [ctx.file._config.path, source.path, stamp.path] + flags,
        )
        stamps.append(stamp)
    return [OutputGroupInfo(tidy = depset(stamps))]

clang_tidy_aspect = aspect(
    implementation = _clang_tidy_impl,
    attrs = {"_config": attr.label(default = "//:.clang-tidy", allow_single_file = True)},
)
