"""Test cases of a script, counted one by one: printed, and written for Bazel as JUnit XML."""

import os
import xml.etree.ElementTree as ElementTree


class Cases:
    def __init__(self, suite):
        self.suite, self.results = suite, []

    def add(self, name, good, said=""):
        self.results.append((name, good, said))
        print(f"{'PASS' if good else 'FAIL'} {name}")
        if not good:
            print("     " + said.replace("\n", "\n     "), flush=True)

    def finish(self):
        """Prints the counts; returns the exit code. No case at all is a failure."""
        failed = [name for name, good, _ in self.results if not good]
        path = os.environ.get("XML_OUTPUT_FILE")
        if path:
            self._write(path)
        print(f"{len(self.results) - len(failed)} passed, {len(failed)} failed")
        return 1 if failed or not self.results else 0

    def _write(self, path):
        suite = ElementTree.Element("testsuite", name=self.suite, tests=str(len(self.results)))
        for name, good, said in self.results:
            case = ElementTree.SubElement(suite, "testcase", name=name, classname=self.suite)
            if not good:
                ElementTree.SubElement(case, "failure", message=name).text = said
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
