"""Models written by former versions, and the script that writes them."""
