"""From files to an arena: public data sets and the user's own.

    import_outputs(Path("answers"), Path("arena"))             # published outputs of NoMIRACL
    import_own(Own("answers", Path("mine.jsonl")), Path("arena"))

`public.py` reads the public data sets, `formats.py` any file in a known format, `own.py` the user's files by kind,
`misfits.py` refuses what does not fit the arena, `texts.py` downloads the texts that are not bundled. Each goes from
files to a finished arena in one transaction.
"""

from mirage.imports.formats import FileImport, ImportPlan, import_file, plan_file
from mirage.imports.own import ImportResult, UserFile, import_own, read_own
from mirage.imports.public import import_miracl, import_mirage_bench, import_nomiracl_queries, import_outputs
from mirage.imports.texts import download_texts

__all__ = [
    "FileImport",
    "ImportPlan",
    "ImportResult",
    "UserFile",
    "download_texts",
    "import_file",
    "import_miracl",
    "import_mirage_bench",
    "import_nomiracl_queries",
    "import_outputs",
    "import_own",
    "plan_file",
    "read_own",
]
