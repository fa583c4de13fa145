"""Records: every trial ever measured, in a SQLite file or a PostgreSQL database.

    from tilewright.records import Database
    with Database.open("tuning.db") as db:
        print(db.summary().trials)

`Database` is the whole interface; the other names are the rows that go in and come out.
"""

from tilewright.records.answers import (
    Coverage,
    ErrorCount,
    Round,
    Summary,
    TrainingGroup,
    TrialLine,
)
from tilewright.records.database import Database
from tilewright.records.exchange import ImportedRecords
from tilewright.records.machine import Machine
from tilewright.records.matching import RecordMatch, find_record
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ModelTask,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
)

__all__ = [
    "CeilingsRow",
    "Coverage",
    "Database",
    "ErrorCount",
    "FactsRow",
    "ImportedRecords",
    "LoadRow",
    "Machine",
    "ModelRow",
    "ModelTask",
    "RecordMatch",
    "ReuseRow",
    "Round",
    "RunRow",
    "Summary",
    "TrainingGroup",
    "Trial",
    "TrialLine",
    "WorkloadRow",
    "find_record",
]
