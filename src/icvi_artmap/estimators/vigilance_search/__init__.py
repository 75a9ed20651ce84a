"""The search for the vigilances: many runs, of which the index picks the best."""
