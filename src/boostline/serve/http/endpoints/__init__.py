"""The endpoints, by subject; a new file joins by its name here."""

from boostline.serve.http.endpoint import ENDPOINTS as ALL
from boostline.serve.http.endpoints import events, labels, models, pages, ranking, status

__all__ = ["ALL", "events", "labels", "models", "pages", "ranking", "status"]
