"""Which pods belong together: group forms, records, hierarchies, admission."""
