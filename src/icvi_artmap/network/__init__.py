"""The ART network: boxes, the search among them, the map field, and who is in which box."""
