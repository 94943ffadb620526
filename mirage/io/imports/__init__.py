"""Imports into an arena: public datasets and the user's own files.

    import_outputs(Path("answers"), Path("arena"))             # published outputs of NoMIRACL

`public.py` reads the public datasets, `formats.py` any file in a known format, `misfits.py` rejects what does not fit
the arena, `texts.py` downloads the texts that are not bundled. Each import is one transaction.
"""

from mirage.io.imports.formats import FileImport, import_file, import_table, read_file
from mirage.io.imports.public import import_miracl, import_mirage_bench, import_nomiracl_queries, import_outputs
from mirage.io.imports.texts import download_texts

__all__ = [
    "FileImport",
    "download_texts",
    "import_file",
    "import_miracl",
    "import_mirage_bench",
    "import_nomiracl_queries",
    "import_outputs",
    "import_table",
    "read_file",
]
