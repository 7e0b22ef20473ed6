from bayesbias.errors import InputError as InputError
