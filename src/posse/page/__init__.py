"""The page in a browser: an application that only answers GET, live changes, and its static files."""
