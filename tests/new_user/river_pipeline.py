"""A River user: dicts through a scaler into the classifier, predicted before they are learned."""

from river import compose, datasets, preprocessing

from boostline.learners import paper_trees
from boostline.river import AdaOLMRClassifier

model = compose.Pipeline(preprocessing.StandardScaler(), AdaOLMRClassifier(paper_trees(50)))
named = relevant = hit = 0
for x, y in datasets.Yeast().take(1200):
    guess = model.predict_one(x)
    for label, on in y.items():
        relevant += on
        named += guess.get(label, False)
        hit += on and guess.get(label, False)
    model.learn_one(x, y)
scores = model.score_one(x)
assert sorted(scores) == sorted(y) and all(isinstance(s, float) for s in scores.values())
f1 = 2 * hit / (named + relevant)
print(f"micro-F1 {f1:.3f}")
assert f1 > 0.55
