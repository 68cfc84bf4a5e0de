"""The one exception of the package: a sentence for the user (what, where, what to do).

The C++ side prints it as it stands and ends with exit code 3."""


class SwizzlePerfError(Exception):
    pass


class ImportEnds(BaseException):
    """Raised where a file that is imported for its kernel launches something: what stands above has
    been defined, what follows is not wanted. No `except Exception` of the file shall catch it."""


class importing:
    """While this holds, launches end the import."""

    active = False

    def __enter__(self):
        importing.active = True

    def __exit__(self, *_):
        importing.active = False

    @staticmethod
    def check():
        if importing.active:
            raise ImportEnds
