"""Visual assessment of cluster tendency: VAT and iVAT."""
