"""Programs for developers. Nothing of them is part of what users install."""
