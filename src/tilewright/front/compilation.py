"""Compile: a load where the same was compiled before, from the user's cache.

    net = compile("resnet50.onnx", db="tuning.db")       networks, or an operator's function
    found = compiled(model, "tuning.db", target)         networks with their plans and notes

What is compiled is known by the content of the model and its weights, by shapes and constants,
target and facts that programs are chosen by, by everything in the records that may decide one, and
by this package's own source. Only where it is not known are the parts imported that make it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from tilewright.contract import arguments
from tilewright.contract.cache import (
    WHOLE_PACKAGE,
    ArtifactCache,
    compiler_fingerprint,
    hash_of,
    is_settled,
    stamp_of,
)
from tilewright.contract.deviation import GivenTolerance, compare
from tilewright.front.machine import as_target, host_target
from tilewright.front.models import Model, ModelSet, PathLike, Task, Tunable, as_tunable
from tilewright.ground import log
from tilewright.ground.files import database_files
from tilewright.ground.lazy import Lazy
from tilewright.ground.settings import Settings
from tilewright.network.executor import Network
from tilewright.network.kept import CompiledNetworks, keep, kept
from tilewright.network.variants import NetworkSet
from tilewright.runtime.buffers import return_freed
from tilewright.runtime.constants import ConstantPool
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import loaded
from tilewright.runtime.function import CompiledFunction
from tilewright.target import Target

if TYPE_CHECKING:
    from tilewright.front import kernels, tuning_tasks
    from tilewright.progress import compiling
else:
    kernels, tuning_tasks = Lazy("tilewright.front.kernels"), Lazy("tilewright.front.tuning_tasks")
    compiling = Lazy("tilewright.progress.compiling")


@overload
def compile(
    model: Task,
    db: str | Path | None = None,
    *,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    progress: bool | None = None,
) -> CompiledFunction | DeviceFunction: ...
@overload
def compile(
    model: Model | PathLike,
    db: str | Path | None = None,
    *,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    progress: bool | None = None,
    pool: ConstantPool | None = None,
) -> Network: ...
@overload
def compile(
    model: ModelSet,
    db: str | Path | None = None,
    *,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    progress: bool | None = None,
) -> NetworkSet: ...
def compile(
    model: Tunable | PathLike,
    db: str | Path | None = None,
    *,
    target: Target | str | None = None,
    notes: Callable[[str], None] | None = None,
    progress: bool | None = None,
    pool: ConstantPool | None = None,
) -> Network | NetworkSet | CompiledFunction | DeviceFunction:
    """Compile a model (or the ONNX file at a path) or task with the best recorded programs;
    defaults where none is known.

    Never fails for want of tuning. `notes` hears a sentence for every task that has no record, runs
    a program recorded on another machine, or has better records that give no program, as does the
    logger "tilewright"; without it, the latter two are a UserWarning. A task's constants are given
    with `.prepare({...})`. A model may be compiled for another CPU, and saved. For a GPU, functions
    and networks run on this machine's device of that kind. Networks compiled with one `pool` store
    equal packed constants once; those of a ModelSet do. What was imported from PyTorch, and runs
    here, is run once on its example inputs, and what differs from the module's outputs is told as
    well. `progress` shows on standard error how many kernels are ready; None does where that is a
    terminal or a notebook. Raises InputError for an argument that cannot be.
    """
    if db is not None:
        db = arguments.database(db)
    if notes is not None:
        arguments.function("notes", notes)
    chosen = as_target(target)
    given, model = model, as_tunable(model)
    if isinstance(model, Task):
        return _operator(model, db, chosen, notes)
    is_own = not isinstance(given, (Model, ModelSet))  # nobody else needs its weights
    found = compiled(model, db, chosen, pool=pool, progress=progress, is_own=is_own)
    tell(found.notes, found.warnings, notes)
    if chosen == host_target():
        models = model.models if isinstance(model, ModelSet) else [model]
        for one, net in zip(models, found.networks, strict=True):
            _check_example(one, net, notes)
    if isinstance(model, ModelSet):
        return NetworkSet(found.networks, model.name)
    return found.networks[0]


def compiled(
    model: Model | ModelSet,
    db: str | Path | None,
    target: Target,
    *,
    pool: ConstantPool | None = None,
    progress: bool | None = None,
    is_own: bool = False,
) -> CompiledNetworks:
    """The networks of a model with all there is to say of them; `compile` says what the arguments
    are. The weights of a model that `is_own` are let go of before the packed ones are loaded.
    """
    cache = ArtifactCache.of_user()
    key = _key(model, db, target, cache)
    found = None if key is None else kept(cache, key, target)
    if found is not None:
        return found if pool is None else found.pooled(pool)
    with compiling.shown(progress) as told:
        built = kernels.build_networks(model, db, target, pool, told)
    if key is None or not keep(cache, key, built):
        return built.packed()
    cache.trim()
    if not (built.weights and is_own and isinstance(model, Model)):
        return built.packed()
    del built
    model.forget()
    return_freed()
    return kept(cache, key, target) or kernels.build_networks(model, db, target, told=told).packed()


def _key(
    model: Model | ModelSet, db: str | Path | None, target: Target, cache: ArtifactCache
) -> str | None:
    """The name of what it compiles to; None where nothing names it, or layers are to be shown."""
    models = model.models if isinstance(model, ModelSet) else (model,)
    if Settings.from_environment().show or any(m.identity is None for m in models):
        return None
    names = [(m.identity, m.name, m.chains) for m in models]
    # A target's text lacks what only decides which program is expected to be fast.
    facts = (repr(target), target, compiler_fingerprint(WHOLE_PACKAGE))
    return hash_of("network", model.name, names, *facts, _state(db, cache))


def _state(db: str | Path | None, cache: ArtifactCache) -> str:
    """What the records say, as a digest. The files of a database are read where their stamps are
    not known.
    """
    if db is None:
        return ""
    files = [f for f in database_files(db) if not f.name.endswith("-shm")]
    status = [s for f in files if (s := _status(f)) is not None and s.st_size]
    if not status or not all(map(is_settled, status)):
        return kernels.records_state(db)
    key = hash_of("records", os.path.realpath(files[0]), *map(stamp_of, status))
    known = cache.read(key)
    if known is not None:
        return known.decode()
    found = kernels.records_state(db)
    cache.write(key, found.encode())
    return found


def _status(file: Path) -> os.stat_result | None:
    try:
        return file.stat()
    except (OSError, ValueError):  # ValueError: a name with a zero byte
        return None


def _operator(
    task: Task, db: str | Path | None, target: Target, notes: Callable[[str], None] | None
) -> CompiledFunction | DeviceFunction:
    """The function of a tensor expression."""
    (tuned,) = tuning_tasks.tasks_of(task)
    matches, artifacts = kernels.build_recorded([tuned], db, target)
    tell(*kernels.remarks([tuned], matches), notes)
    return loaded(artifacts[tuned.computation], target, arguments=task.arguments)


def tell(
    sentences: Sequence[str], unheard: Sequence[str], notes: Callable[[str], None] | None
) -> None:
    """Pass on what is not as it should be; see `compile`."""
    for sentence in sentences:
        log.warning("%s", sentence)
        if notes is not None:
            notes(sentence)
    for sentence in () if notes is not None else unheard:
        warnings.warn(sentence, stacklevel=3)


def _check_example(model: Model, network: Network, notes: Callable[[str], None] | None) -> None:
    """Tell of outputs that are not what the PyTorch module gave when it was imported."""
    if model.example is None:
        return
    is_narrow = model.facts.is_narrow
    ours = network(*model.example.inputs)
    for spec, y, wanted in zip(network.outputs, ours, model.example.outputs, strict=True):
        (found,) = compare([spec.name], [y], [wanted], GivenTolerance.of(wanted, is_narrow))
        if found.is_allowed:
            continue
        note = (
            f"{model.name}: {spec.name} differs from the module's {found.words}; "
            f"torch.compile(module, backend='tilewright') names the operator"
        )
        log.warning("%s", note)
        if notes is None:
            warnings.warn(note, stacklevel=3)
        else:
            notes(note)
