"""The one exception of the package."""


class InputError(ValueError):
    """What was given cannot be used; the message says what is valid and what to do."""
