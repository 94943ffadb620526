"""From files to an arena: public data sets and the user's own.

    import_outputs(Path("replies"), Path("arena"))             # published outputs of NoMIRACL
    import_own(Own("answers", Path("mine.jsonl")), Path("arena"))

`public.py` reads the public data sets, `own.py` the user's files, `misfits.py` refuses what does not fit the arena,
`texts.py` downloads the texts that are not bundled. Each goes from files to a finished arena in one transaction.
"""

from mirage.imports.own import ImportResult, UserFile, import_own, read_own
from mirage.imports.public import import_miracl, import_mirage_bench, import_outputs, import_questions
from mirage.imports.texts import download_texts

__all__ = [
    "ImportResult",
    "UserFile",
    "download_texts",
    "import_miracl",
    "import_mirage_bench",
    "import_outputs",
    "import_own",
    "import_questions",
    "read_own",
]
