"""What goes wrong with model files."""


class LoadError(ValueError):
    """The file is not a boostline model, is damaged, or needs a newer version."""


class SaveError(ValueError):
    """The model cannot be saved; nothing has been written."""
