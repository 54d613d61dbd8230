"""The option -l: a label selector as kubectl takes it."""

from posse.cli.problems import Misuse
from posse.model.selectors import LabelQuery, SelectorError, parse_label_selector


def chosen_labels(text: str) -> LabelQuery | None:
    """None without a selector. Misuse: it cannot be read."""
    try:
        return parse_label_selector(text) if text else None
    except SelectorError as error:
        raise Misuse(f"--selector: {error}") from error
