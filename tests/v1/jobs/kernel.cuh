// An included file.
