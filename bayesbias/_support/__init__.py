"""What every room needs and no reader of results meets: files, arguments, phrases, progress, runs, registers."""
