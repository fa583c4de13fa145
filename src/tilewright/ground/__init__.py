"""What every room stands on: errors, settings, words, files, limits of the process."""
