"""One file per scorer, each with the constant `SCORER`; helpers start with an underscore."""
