"""What extensions of one's own must pass: suites to subclass, and their parts. Needs pytest.

    class TestMyStrategy(StrategySuite):            its tests are inherited
        make = staticmethod(MyStrategy)

    class TestMyRule(SpaceSuite):                   a rule, a template, an operator, a form …
        def space(self):
            return Space(dag, target, rules=(MY_RULE, *CPU_RULES))

    class TestMyDevice(DeviceSuite):                a kind of target, its code, its trials
        def make(self):
            return target_at_hand("mine")

    class TestMyDatabase(DatabaseSuite):            where records are kept
        def make(self, folder, **options):
            return MyDatabase(folder / "records", **options)

    checked(dag, lowered)                           one program, by the interpreter
    checked(dag, lowered, compiled)                 … and as native code of this machine

Nothing is compared by its time, and all that is random is seeded.
"""

from tilewright.testing.databases import DatabaseSuite
from tilewright.testing.devices import DeviceSuite
from tilewright.testing.programs import (
    HOST,
    Arrays,
    Backend,
    checked,
    compiled,
    interpreted,
    packed,
    run_on,
    shuffled,
)
from tilewright.testing.search import SpaceSuite, StrategySuite, Untrained

__all__ = [
    "HOST",
    "Arrays",
    "Backend",
    "DatabaseSuite",
    "DeviceSuite",
    "SpaceSuite",
    "StrategySuite",
    "Untrained",
    "checked",
    "compiled",
    "interpreted",
    "packed",
    "run_on",
    "shuffled",
]
