"""The one exception of the package: a sentence for the user (what, where, what to do).

The C++ side prints it as it stands and ends with exit code 3."""


class SwizzlePerfError(Exception):
    pass
