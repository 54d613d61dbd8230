"""What people have been told of objects that have no condition of ours: it is told again only when it has changed."""

from posse.controllers.steps import News, Plan


class ToldOnce:
    def __init__(self) -> None:
        self._told: dict[str, News] = {}

    def plan(self, uid: str, news: News) -> Plan:
        """Return the plan that tells it, if that is still to be done."""
        is_known = self._told.get(uid) == news
        self._told[uid] = news
        return Plan() if is_known else Plan(news=[news])

    def forget(self, uid: str) -> None:
        self._told.pop(uid, None)
