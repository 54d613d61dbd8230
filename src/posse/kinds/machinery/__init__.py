"""What all kinds share: errors, metadata, defaults, patches, schemas."""
