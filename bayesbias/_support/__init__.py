"""Tools that all parts of the package share: files, arguments, phrases, progress, runs, registers."""
