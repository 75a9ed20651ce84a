"""What every room may use: checks, files, callbacks, threads, words and colours."""
