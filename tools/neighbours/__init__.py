"""Other projects' controllers beside Posse on a real control plane: built from their Go modules, as they are."""
