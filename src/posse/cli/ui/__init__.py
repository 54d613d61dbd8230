"""posse ui: the page in a browser, made from the same status as the other verbs."""
