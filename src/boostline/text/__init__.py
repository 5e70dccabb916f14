"""Tag texts: strings in, names of tags out.

>>> from boostline.text import TextRanker
>>> tagger = TextRanker()
>>> tagger.learn(["the goalkeeper held the ball", "the band played on"], [{"sport"}, {"music"}])
>>> tagger.rank("a band", top=1)
['music']
"""

from boostline.text.features import TextFeatures
from boostline.text.ranker import TextRanker
from boostline.text.words import Words

__all__ = ["TextFeatures", "TextRanker", "Words"]
