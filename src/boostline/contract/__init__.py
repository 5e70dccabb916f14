"""What users pass, read once: rows of features, label sets, numbers.

Every door (`learn`, `evaluate`, metrics, adapters, the shell) reads through these modules, so that all accept and
refuse the same things in the same words. Errors say what was passed and what is allowed: "`x` is ..., but must be ...".
They come before anything is changed.
"""
