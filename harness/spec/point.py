# SPDX-License-Identifier: BSD-3-Clause
"""Points: one fully resolved (machine, engine, kernel, workload, cores, core order, trial)."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.report.words import cores_text
from common.outcome import bad_input
from harness.spec import kernel, machine, sweep, workload
from harness.spec.fixes import WITHOUT
from harness.spec.machine import Machine
from harness.spec.machine_schema import schema
from harness.spec.workload import Workload, load_labelled

NETWORK_CARD = "network-card"
"""The part of a machine with this name is the card of its `nic_` keys."""
_CARD_PARAMETERS = ("steering", "loss_per_million")
"""Parameters of workloads that are settings of the card, with `nic_` before their names."""
COMMAND_LINE_LIMIT = 511  # characters; gem5's x86 loader copies no more
DEFAULTS: Mapping[str, str] = {"machine": "opteron-8431", "engine": machine.DEFAULT_ENGINE, "order": "seq", "trial": "1"}
"""Of settings that are not given. The default kernel is `kernel.default_source`."""
_FEW = 3  # fixes that are named rather than the one that lacks
_KEYS = ("machine", "engine", "kernel", "workload", "cores", "order", "trial")


@dataclass(frozen=True)
class Point:
    """One point. Everything that can change its result is in these fields; the builds it ran on are in provenance.json."""

    machine: Machine
    engine: str
    source: str
    """Kernel source, a folder of kernels/."""
    fixes: tuple[str, ...]
    """Sorted names of the fixes; none is the stock kernel."""
    workload: str
    """Its `Workload.label`: of a folder outside workloads/ it says what is in it."""
    variant: str
    parameters: Mapping[str, str]
    """Every parameter of the workload, defaults included."""
    cores: int
    order: str
    """seq or rr, see `Machine.core_list`."""
    trial: int
    workload_folder: str = ""
    """Where a workload that is not one of workloads/ lies. Not part of the identity: its content is, in ``workload``."""

    @property
    def core_list(self) -> tuple[int, ...]:
        """Numbers of the machine's cores that are plugged."""
        return self.machine.core_list(self.cores, self.order)

    @property
    def kernel_text(self) -> str:
        """The kernel as the user writes it: source:stock, source:pk, source:pk-fix or source:fix+fix."""
        return f"{self.source}:{self.fix_set}"

    @property
    def fix_set(self) -> str:
        """stock, pk (every fix that the source has today), pk-fix (all but that one of many), or the fixes joined by +."""
        every = {name for name, piece in kernel.load_recipe(self.source).fixes.items() if piece.number is not None}
        missing = every.difference(self.fixes)
        if self.fixes and not missing:
            return "pk"
        if len(missing) == 1 and len(self.fixes) > _FEW:
            return f"{WITHOUT}{missing.pop()}"
        return "+".join(self.fixes) or "stock"

    @property
    def workload_text(self) -> str:
        """The workload as the user writes it, without parameters."""
        return f"{self.workload}:{self.variant}"

    @property
    def job(self) -> str:
        """What the guest's init reads: workload:variant:key=value,..."""
        return f"{self.workload.partition('@')[0]}:{self.variant}:" + ",".join(
            f"{key}={value}" for key, value in sorted(self.parameters.items())
        )

    @property
    def workload_definition(self) -> Workload:
        """What the workload's folder says.

        Raises:
            Failure: bad-input, when the folder is not there or has changed since the point was made.
        """
        return load_labelled(self.workload, self.workload_folder)

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the machine that not every engine has and its parameters need."""
        known = self.workload_definition.variants[self.variant].parameters
        return frozenset(part for key, value in self.parameters.items() if (part := known[key].needs.get(value)) is not None)

    @property
    def card_settings(self) -> str:
        """The file that the network card reads: a "key value" line for each of its settings, the machine's and the point's."""
        of_machine = {key: value for key, value in self.machine.values().items() if key.startswith("nic_")}
        of_point = {f"nic_{name}": self.parameters[name] for name in _CARD_PARAMETERS if name in self.parameters}
        settings = {**of_machine, "nic_steering": "driver", **of_point}
        return "".join(f"{key} {value}\n" for key, value in settings.items())

    @property
    def title(self) -> str:
        """One line for people."""
        return (
            f"{self.workload_text}, {cores_text(self.cores)}, {self.source}:{self.fix_set}, {self.machine.name}, {self.engine}"
            + (f", order={self.order}" if self.order != DEFAULTS["order"] else "")
            + (f", trial {self.trial}" if self.trial > 1 else "")
        )

    @property
    def id(self) -> str:
        """Readable prefix and ten hexadecimal digits of the hash of everything."""
        digest = hashlib.sha256(json.dumps(self._identity(), sort_keys=True).encode()).hexdigest()
        many = self.fix_set if self.fix_set.startswith(WITHOUT) else f"{len(self.fixes)}-fixes"
        kernel_word = "stock" if not self.fixes else self.fixes[0] if len(self.fixes) == 1 else many
        words = [self.engine, self.machine.name, self.source, kernel_word, self.workload, self.variant, f"c{self.cores}"]
        words += [self.order] if self.order != "seq" else []
        words += [f"t{self.trial}"] if self.trial > 1 else []
        return "-".join([*words, digest[:10]])

    def _identity(self) -> dict[str, object]:
        return {
            "machine": self.machine.identity(),
            "engine": self.engine,
            "source": self.source,
            "fixes": list(self.fixes),
            "workload": self.workload,
            "variant": self.variant,
            "parameters": dict(sorted(self.parameters.items())),
            "cores": self.cores,
            "order": self.order,
            "trial": self.trial,
        }


def resolve(settings: sweep.Settings) -> Point:
    """The point that ``settings`` mean, defaults filled in. A parameter's default may depend on what engine and kernel have
    (`Parameter.otherwise`).

    Keys: machine, engine, kernel, workload, cores (default: all of the machine), order, trial, ``set.KEY`` (a key of the
    machine) and ``param.NAME`` (a parameter of the workload, in place of the one in ``workload=``).

    Raises:
        Failure: bad-input, naming the setting.
    """
    for key in settings:
        if key not in _KEYS and not key.startswith(("set.", "param.")):
            raise bad_input(f"There is no setting {key!r}.", f"Use {', '.join(_KEYS)}, set.KEY or param.NAME.")
    given = {**DEFAULTS, **settings}
    if "workload" not in given:
        raise bad_input("A point needs a workload.", "Give for example workload=memcached; `run.py list workloads` has all.")
    machine.require_engine(given["engine"])
    source, fixes = parse_kernel(given.get("kernel") or kernel.default_source())
    work = workload.parse(_with_parameters(given["workload"], _under(given, "param.")), lacking(given["engine"], source))
    made = machine.load(given["machine"], {**work.machine, **_under(given, "set.")}, given["engine"])
    machine.check_engine(made, given["engine"])
    point = Point(
        machine=made,
        engine=given["engine"],
        source=source,
        fixes=fixes,
        workload=work.name,
        variant=work.variant,
        parameters=dict(sorted(work.parameters.items())),
        cores=_whole(given, "cores", made.cores),
        order=given["order"],
        trial=_whole(given, "trial", 1),
        workload_folder=str(work.workload.folder) if work.workload.content else "",
    )
    _check_cores(point, work.needs_cores_min)
    return point


def check(point: Point) -> None:
    """Refuse a point, one of a file, that its workload as it is today, its engine or its machine cannot be.

    Raises:
        Failure: bad-input, naming what there is not.
    """
    machine.check_engine(point.machine, point.engine)
    _ = point.workload_definition  # fails for a folder that has changed
    text = f"{point.workload_folder or point.workload}:{point.job.partition(':')[2]}"
    work = workload.parse(text, lacking(point.engine, point.source))
    if (work.variant, work.parameters) != (point.variant, point.parameters):
        raise bad_input(
            f"The point's workload {point.job} is not written in full: it is {work.job()}.", "Give each parameter of the variant."
        )
    _check_cores(point, work.needs_cores_min)


def _check_cores(point: Point, needed: int) -> None:
    if point.cores < needed:
        raise bad_input(f"{point.workload_text} needs {cores_text(needed)}, not {point.cores}.", f"Give cores={needed} or more.")
    made = point.machine
    if NETWORK_CARD in point.parts and point.cores > made.nic_queues:
        raise bad_input(
            f"{point.workload_text} on {cores_text(point.cores)} needs as many queues of the card, and machine {made.name} has "
            f"nic_queues = {made.nic_queues}.",
            "Give fewer cores or more queues.",
        )
    _ = point.core_list  # fails for a number of cores or an order that the machine does not have


def lacking(engine: str, source: str) -> dict[str, str]:
    """Parts of machines that the engine has not, or the kernel source no driver of -> which of the two, for people."""
    drivers = kernel.load_recipe(source).drivers
    without_driver = {name: f"kernel {source}" for name in schema().parts if name not in drivers}
    return without_driver | {name: f"engine {engine}" for name, part in schema().parts.items() if engine not in part.engines}


def with_engine(point: Point, engine: str) -> Point:
    """The same point on another engine.

    Raises:
        Failure: bad-input, when it needs what the engine has not.
    """
    machine.check_engine(point.machine, engine)
    variant = point.workload_definition.variants[point.variant]
    workload.check_parts(point.workload, variant, point.parameters, lacking(engine, point.source))
    return replace(point, engine=engine)


def parse_kernel(text: str) -> tuple[str, tuple[str, ...]]:
    """Source and sorted fixes of "source", "source:stock" (no fix), "source:pk" (every fix), "source:pk-fix" (all but that) or
    "source:fix+fix".

    "stock", "pk", "pk-fix" or "fix+fix" without a source are of the default source. Libraries that fixes need are not named.

    Raises:
        Failure: bad-input, for an unknown source or fix.
    """
    source, colon, chosen = text.partition(":")
    if not colon and source not in kernel.sources() and set(source.split("+")) <= _fix_words():
        source, chosen = kernel.default_source(), source
    pieces = kernel.chosen_fixes(kernel.load_recipe(source), chosen.split("+") if chosen else ())
    return source, tuple(sorted(piece.name for piece in pieces if piece.number is not None))


def _fix_words() -> set[str]:
    """What stands for fixes without a source's name in front."""
    known = kernel.load_recipe(kernel.default_source()).fixes
    return {"stock", "pk", *known, *(f"{WITHOUT}{name}" for name in known)}


def _under(settings: sweep.Settings, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}


def _with_parameters(text: str, parameters: Mapping[str, str]) -> str:
    """Workload text with parameters put in, in the place of those of the same name. What is wrong in it stays for its reader."""
    if not parameters:
        return text
    name, _, rest = text.partition(":")
    variant, _, given = rest.partition(":")
    if "=" in variant and not given:
        variant, given = "", variant
    others = [pair for pair in given.split(",") if "=" not in pair or pair.partition("=")[0] not in parameters]
    return f"{name}:{variant}:" + ",".join([*others, *(f"{key}={value}" for key, value in parameters.items())])


def _whole(settings: sweep.Settings, key: str, default: int) -> int:
    text = settings.get(key, str(default))
    if not text.isdecimal() or int(text) < 1:
        raise bad_input(f"{key} = {text} is not a whole number of 1 or more.", f"Give for example {key}={default}.")
    return int(text)


def write(point: Point, path: Path) -> None:
    """Write ``point`` as point.toml, everything resolved."""
    lines = [
        f"id = {_toml(point.id)}",
        f"engine = {_toml(point.engine)}",
        f"kernel = {_toml(point.source)}",
        f"fixes = {_toml(list(point.fixes))}",
        f"fix_set = {_toml(point.fix_set)}",
        f"workload = {_toml(point.workload)}",
        *([f"workload_folder = {_toml(point.workload_folder)}"] if point.workload_folder else []),
        f"variant = {_toml(point.variant)}",
        f"cores = {point.cores}",
        f"order = {_toml(point.order)}",
        f"core_list = {_toml(list(point.core_list))}",
        f"trial = {point.trial}",
        "",
        "[parameters]",
        *(f"{key} = {_toml(value)}" for key, value in sorted(point.parameters.items())),
        "",
        "[machine]",
        *(f"{key} = {_toml(value)}" for key, value in point.machine.values().items()),
    ]
    if changes := machine_changes(point):
        lines += ["", "[machine_changes]", *(f"{key} = {_toml(value)}" for key, value in changes.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def machine_changes(point: Point) -> dict[str, str]:
    """The keys that the project's machine of the same name has otherwise on the point's engine; empty where there is none of that
    name."""
    made = point.machine
    if made.name not in machine.names():
        return {}
    named = machine.load(made.name, engine=point.engine).values()
    return {key: value for key, value in made.values().items() if named[key] != value}


def words(point: Point) -> str | None:
    """The point as a user writes it, settings that `resolve` makes the same point of; None where no words do, because its machine
    is none of the project's."""
    if point.machine.name not in machine.names():
        return None
    parameters = ",".join(f"{key}={value}" for key, value in sorted(point.parameters.items()))
    settings = {
        "workload": f"{point.workload_text}:{parameters}" if parameters else point.workload_text,
        "cores": str(point.cores),
        "kernel": point.kernel_text,
        "machine": point.machine.name,
        **{f"set.{key}": value for key, value in machine_changes(point).items()},
        "engine": point.engine,
        "order": point.order,
        "trial": str(point.trial),
    }
    return sweep.write({key: value for key, value in settings.items() if DEFAULTS.get(key) != value})


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)  # strings and lists of the kinds used here are the same in TOML


_TYPES = {
    **dict.fromkeys(("engine", "kernel", "workload", "variant", "order", "workload_folder"), str),
    **dict.fromkeys(("cores", "trial"), int),
    "fixes": list,
    "parameters": dict,
    "machine": dict,
}
"""Of what `read` takes."""


def read(path: Path) -> Point:
    """Read a point.toml. Whether its point can be run today says `check`: old runs are read too.

    Raises:
        Failure: bad-input, when it is not one.
    """
    try:
        data = {"workload_folder": "", **tomllib.loads(path.read_text(encoding="utf-8"))}
        for key, kind in _TYPES.items():
            if type(data[key]) is not kind:  # true is no number
                raise TypeError(f"{key} is not of type {kind.__name__}")
        return Point(
            machine=machine.from_values(data["machine"], str(path)),
            engine=data["engine"],
            source=data["kernel"],
            fixes=tuple(map(str, data["fixes"])),
            workload=data["workload"],
            variant=data["variant"],
            parameters={key: str(value) for key, value in data["parameters"].items()},
            cores=data["cores"],
            order=data["order"],
            trial=data["trial"],
            workload_folder=data["workload_folder"],
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise bad_input(
            f"{path} is not a point: {error}.", "Give a point.toml of a run directory, or settings such as workload=memcached."
        ) from error


def command_line(point: Point, *, job: str | None = None, loops_per_jiffy: int | None = None, words: str = "") -> str:
    """The guest kernel's command line, for both engines; ``job`` in place of the point's, ``words`` before it.

    Raises:
        Failure: bad-input, when the job makes it longer than gem5 can pass.
    """
    # Without lpj= every core measures its delay loop at boot, most of a boot's instructions; 250 ticks a second in all kernels.
    recipe = kernel.load_recipe(point.source)
    fixed = (
        f"root={recipe.root} ro rootfstype=ext2 console=ttyS0,115200 {recipe.boot.words} tsc=reliable "
        f"no_timer_check idle=halt panic=-1 lpj={loops_per_jiffy or round(point.machine.clock_ghz * 1e9 / 250)} swiotlb=2048 "
        "init=/mosbench/init"
    )
    line = " ".join(filter(None, (fixed, words, f"mosbench.job={job or point.job}")))
    if len(line) > COMMAND_LINE_LIMIT:
        raise bad_input(
            f"The kernel command line has {len(line)} characters: the job {point.job!r} is too long.",
            f"At most {COMMAND_LINE_LIMIT} fit; use shorter parameter values.",
        )
    return line
