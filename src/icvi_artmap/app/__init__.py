"""The workbench: a page on this machine, on which tables are clustered and looked at."""
