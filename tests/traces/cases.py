"""unittest's cases, each counted by Bazel: without this a test program is one case, whatever it holds."""

import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class Recorder(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.cases = []  # (name, kind of what went wrong or None, what was said)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.cases.append((test.id(), None, ""))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.cases.append((test.id(), "failure", self.failures[-1][1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.cases.append((test.id(), "error", self.errors[-1][1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.cases.append((test.id(), "skipped", reason))


def main():
    """Runs the cases of __main__; writes $XML_OUTPUT_FILE. No case at all is a failure."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(resultclass=Recorder, verbosity=1).run(suite)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        root = ElementTree.Element("testsuite", name=sys.argv[0])
        for name, kind, said in result.cases:
            case = ElementTree.SubElement(root, "testcase", name=name)
            if kind:
                ElementTree.SubElement(case, kind, message=name).text = said
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    sys.exit(0 if result.wasSuccessful() and result.cases else 1)
