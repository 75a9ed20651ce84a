"""What is learned of a table before it is clustered, and done to every row by itself."""
