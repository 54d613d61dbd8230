"""Who owns which field of an object, and server-side apply. Pure."""
