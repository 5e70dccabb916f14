"""What goes wrong with model files."""

__all__ = ["LoadError", "SaveError"]


class LoadError(ValueError):
    """The file is not a boostline model, is damaged, or needs a newer version."""


class SaveError(ValueError):
    """The model is in a state that no file can hold; nothing has been written."""
