"""Imports into an arena: public datasets and the user's own files.

    public.import_outputs(Path("answers"), Path("arena"))      # published outputs of NoMIRACL

`public.py` reads the public datasets, `formats.py` any file in a known format, `misfits.py` rejects what does not fit
the arena, `texts.py` downloads the texts that are not bundled. Each import is one transaction.
"""
