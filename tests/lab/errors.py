"""The one exception of the lab that is meant for people."""


class LabError(Exception):
    """What was being done, to what, why it failed, what to do: one sentence, printed as it is."""
