#!/usr/bin/env python3
"""The parts of the lab that are functions of values."""

import argparse
import os
import struct
import tempfile
import unittest
from pathlib import Path

import cpio
import fabric
import guest
import guest_config
import image
import kernel
import processes
import source_module
import state
from errors import LabError

MODULES_DEP = """\
kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko: kernel/core/ib_uverbs.ko kernel/core/ib_core.ko
kernel/core/ib_uverbs.ko: kernel/core/ib_core.ko
kernel/core/ib_core.ko:
kernel/arch/x86/crypto/crc32-pclmul.ko:
"""


class ModuleIndexTest(unittest.TestCase):
    def setUp(self):
        self.index = kernel.ModuleIndex(MODULES_DEP, "kernel/lib/crc32.ko\n")

    def test_what_a_module_needs_is_loaded_before_it_and_once(self):
        self.assertEqual(self.index.load_order(["rdma_rxe", "ib_uverbs"]), [
            "kernel/core/ib_core.ko", "kernel/core/ib_uverbs.ko",
            "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko"])

    def test_dash_and_underscore_are_the_same(self):
        self.assertEqual(self.index.load_order(["crc32_pclmul"]),
                         ["kernel/arch/x86/crypto/crc32-pclmul.ko"])

    def test_a_built_in_module_needs_no_loading(self):
        self.assertEqual(self.index.load_order(["crc32"]), [])

    def test_an_unknown_module_is_named(self):
        with self.assertRaisesRegex(LabError, "no mlx5_ib"):
            self.index.load_order(["mlx5_ib"])

    def test_lines_for_modprobe_are_those_of_the_kernel(self):
        self.assertEqual(self.index.lines(["kernel/core/ib_uverbs.ko"]),
                         "kernel/core/ib_uverbs.ko: kernel/core/ib_core.ko\n")


    def test_a_module_built_outside_is_loaded_after_what_it_needs(self):
        self.index.add("extra/siw.ko", ["ib_uverbs", "crc32"])
        self.assertEqual(self.index.load_order(["siw"]), [
            "kernel/core/ib_core.ko", "kernel/core/ib_uverbs.ko", "extra/siw.ko"])
        self.assertEqual(self.index.lines(["extra/siw.ko"]),
                         "extra/siw.ko: kernel/core/ib_uverbs.ko kernel/core/ib_core.ko\n")


class SourceModuleTest(unittest.TestCase):
    def test_missing_source_or_headers_are_named_with_their_package(self):
        with tempfile.TemporaryDirectory() as folder:
            sources, modules = Path(folder, "src"), Path(folder, "modules")
            sources.mkdir()
            with self.assertRaisesRegex(LabError, "apt-get install linux-source-6.1`"):
                source_module.built(["siw"], "6.1.0-57-amd64", sources, modules)
            (sources / "linux-source-6.1.tar.xz").touch()
            with self.assertRaisesRegex(LabError, "apt-get install linux-headers-6.1.0-57-amd64`"):
                source_module.built(["siw"], "6.1.0-57-amd64", sources, modules)

    def test_what_the_module_needs_stands_in_it(self):
        self.assertEqual(source_module.needs(b"license=GPL\0depends=ib_core,libcrc32c\0name=siw\0"),
                         ["ib_core", "libcrc32c"])
        self.assertEqual(source_module.needs(b"\0depends=\0"), [])
        with self.assertRaises(LabError):
            source_module.needs(b"no module")

    def test_a_failed_build_shows_what_the_compiler_said(self):
        with self.assertRaisesRegex(LabError, "building siw: .* failed .exit 3.*\n  \\| broken"):
            source_module.run(["sh", "-c", "echo broken >&2; exit 3"], "building siw")


class KernelReleaseTest(unittest.TestCase):
    def test_newest_by_number_and_only_with_modules(self):
        with tempfile.TemporaryDirectory() as folder:
            boot, modules = Path(folder, "boot"), Path(folder, "modules")
            boot.mkdir()
            for release in ("6.1.0-9-amd64", "6.1.0-57-amd64", "6.9.0-1-amd64"):
                (boot / f"vmlinuz-{release}").touch()
            for release in ("6.1.0-9-amd64", "6.1.0-57-amd64"):
                (modules / release).mkdir(parents=True)
                (modules / release / "modules.dep").touch()
            self.assertEqual(kernel.newest_release(boot, modules), "6.1.0-57-amd64")

    def test_what_is_no_kernel_is_refused(self):
        with self.assertRaises(LabError):
            kernel.payload(bytes(0x1000))


class LddTest(unittest.TestCase):
    def test_libraries_and_the_loader_are_found_the_vdso_is_not(self):
        text = ("\tlinux-vdso.so.1 (0x00007ffd8)\n"
                "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)\n"
                "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n")
        self.assertEqual(image.parse_ldd(text), ["/lib/x86_64-linux-gnu/libc.so.6",
                                                 "/lib64/ld-linux-x86-64.so.2"])

    def test_a_missing_library_is_named(self):
        with self.assertRaisesRegex(KeyError, "libfoo.so.1"):
            image.parse_ldd("\tlibfoo.so.1 => not found\n")

    def test_one_spelling_for_merged_folders(self):
        self.assertEqual(image.guest_path("/lib/x/libc.so"), "usr/lib/x/libc.so")
        self.assertEqual(image.guest_path("/usr/lib/x/libc.so"), "usr/lib/x/libc.so")
        self.assertEqual(image.guest_path("/library/x"), "library/x")


class CpioTest(unittest.TestCase):
    def test_missing_folders_are_made_before_what_is_in_them(self):
        entries = cpio.with_parents([cpio.file("a/b/c", b"x")])
        self.assertEqual([entry.path for entry in entries], ["a", "a/b", "a/b/c"])

    def test_same_entries_give_the_same_bytes_in_any_order(self):
        one, two = cpio.file("one", b"1"), cpio.link("two", "one")
        self.assertEqual(cpio.archive([one, two]), cpio.archive([two, one]))

    def test_archive_can_be_followed_by_another(self):
        self.assertEqual(len(cpio.archive([cpio.file("a", b"123")])) % 512, 0)


class GuestConfigTest(unittest.TestCase):
    def test_configuration_names_all_others_by_ipv6(self):
        text = guest_config.daemon_config(guest_config.GuestIdentity(1), 3)
        self.assertEqual(text, 'host: {name: h1, labels: {tor: t1}}\n'
                               'http: {api_allow: [10.0.2.0/24]}\n'
                               'peers:\n'
                               '  - {name: h2, address: "fd77::2", labels: {tor: t1}}\n'
                               '  - {name: h3, address: "fd77::3", labels: {tor: t1}}\n')

    def test_extra_text_comes_behind(self):
        text = guest_config.daemon_config(guest_config.GuestIdentity(1), 1, True, "maintenance: true")
        self.assertTrue(text.endswith("\nmaintenance: true\n"))

    def test_extra_text_may_not_repeat_a_key(self):
        with self.assertRaisesRegex(LabError, "peers"):
            guest_config.daemon_config(guest_config.GuestIdentity(1), 2, True, "peers: []\n")
        guest_config.daemon_config(guest_config.GuestIdentity(1), 2, False, "peers: []\n")


class AgentMessagesTest(unittest.TestCase):
    def test_messages_are_taken_whole_and_the_rest_is_kept(self):
        buffer = bytearray(guest.encode(b"O", b"hello") + guest.encode(b"X", b"0")[:-1])
        self.assertEqual(guest.decode(buffer), [(b"O", b"hello")])
        self.assertEqual(buffer, b"X" + struct.pack(">I", 1))


class SwitchLanguageTest(unittest.TestCase):
    @staticmethod
    def arguments(**given):
        names = ("source", "to", "dscp", "sport", "larger", "drop", "ecn", "delay", "jitter", "rate", "queue",
                 "blackhole", "not_ect_too")
        return argparse.Namespace(**{name: given.get(name) for name in names})

    def test_units_become_the_switchs(self):
        self.assertEqual(fabric.rule_words(self.arguments(delay="20ms", jitter="500us")),
                         "add delay_us=20000 jitter_us=500")
        self.assertEqual(fabric.rule_words(self.arguments(rate="10mbit", queue="64kb")),
                         "add rate_bps=10000000 queue_bytes=64000")

    def test_a_match_of_zero_is_a_match(self):
        self.assertEqual(fabric.rule_words(self.arguments(source="h1", dscp=0, blackhole=True)),
                         "add from=h1 dscp=0 blackhole")
        self.assertEqual(fabric.rule_words(self.arguments(larger=1000, blackhole=True)),
                         "add larger=1000 blackhole")

    def test_number_without_unit_is_refused(self):
        for text in ("20", "ms", "20 parsecs", "1.2.3ms"):
            with self.assertRaises(LabError):
                fabric.quantity(text, fabric.TIME_UNITS, "delay")

    def test_answers_become_records(self):
        self.assertEqual(fabric.parse_lines("id=1 from=h1 drop=0.5 blackhole\nid=2\n"),
                         [{"id": 1, "from": "h1", "drop": 0.5, "blackhole": True}, {"id": 2}])


class ProcessesTest(unittest.TestCase):
    def test_own_process_is_known_by_start_time_and_command_line(self):
        own = processes.record(os.getpid(), "lab_test")
        self.assertTrue(processes.alive(own))
        self.assertFalse(processes.alive({**own, "start_time": own["start_time"] - 1}))
        self.assertFalse(processes.alive({**own, "mark": "/no/such/folder"}))

    def test_what_was_never_started_is_not_alive(self):
        self.assertFalse(processes.alive(None))


class StateTest(unittest.TestCase):
    def test_saved_state_is_loaded_again(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = state.State.new(folder, {"peers": True})
            saved.data["hosts"]["h1"] = {"index": 1, "metrics_port": 4711, "agent_port": 4712}
            saved.save()
            host = state.State.load(folder).host("h1")
            self.assertEqual(host.metrics_url, "http://127.0.0.1:4711/metrics")
            self.assertEqual(host.vm_state(), "off")
            self.assertEqual(host.greeting, saved.host("h1").greeting)

    def test_unknown_host_and_missing_lab_are_sentences(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(LabError, "no lab is up there"):
                state.State.load(folder)
            with self.assertRaisesRegex(LabError, "looking for host h9"):
                state.State.new(folder, {}).host("h9")

    def test_folder_too_long_for_sockets_is_refused(self):
        with self.assertRaises(LabError):
            state.prepare_folder("/tmp/" + "x" * 100)


if __name__ == "__main__":
    unittest.main()
