# SPDX-License-Identifier: MIT
import os
import pathlib
from typing import Any, Iterable, Iterator, NamedTuple, Sequence, overload

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Program = Path | tuple[Path, int] | tuple[Path, int, int]
Numbers = int | Sequence[int] | None
Names = str | Sequence[str] | None
Span = tuple[int | None, int | None]

CONSTANTS: tuple[str, ...]
UNKNOWN: int
NO_SYNC: int
TRACE_ON: int
END_OF_TRACE: int
CONTEXT: int
RANGE: int
RANGE_NO_PATH: int
NO_MEMORY: int
NO_ADDRESS: int
EXCEPTION: int
EXCEPTION_RETURN: int
TIMESTAMP: int
CYCLES: int
EVENT: int
SOFTWARE: int
SYNC_MARKER: int
TRANSACTION: int
INSTRUMENTATION: int
ITM: int
CUSTOM: int
DATA_ADDRESS: int
DATA_VALUE: int
BUS_TRANSFER: int
TAKEN: int
CONDITIONAL: int
HAS_CYCLES: int
HAS_TIMESTAMP: int
HAS_RETURN_ADDRESS: int
HAS_PAYLOAD: int
HAS_PC: int
HAS_ADDRESS: int
HAS_VALUE: int
OVERFLOW: int
OTHER: int
BRANCH: int
INDIRECT_BRANCH: int
CALL: int
RETURN: int
NO_TASK: int
FOUND: int
CALLED: int
TAIL: int
EXCEPTION_ENTRY: int
SLICE_CALL: int
SLICE_INSTANT: int
SLICE_COUNTER: int
SLICE_GAP: int
DWT_RESERVED: int
DWT_STIMULUS: int
DWT_COUNTERS: int
DWT_EXCEPTION: int
DWT_PC_SAMPLE: int
DWT_SLEEPING: int
DWT_DENIED: int
DWT_PMU: int
DWT_MATCH: int
DWT_DATA: int
MARK_SYNC: int
MARK_TIMESTAMP: int
MARK_TRIGGER: int
MARK_EVENT: int
MARK_CONTEXT: int
MARK_OVERFLOW: int
MARK_EXCEPTION: int
MARK_ADDRESS: int
MARK_TRACE_ON: int

class Error(Exception):
    status: int
    offset: int | None
    source: int | None
    lines: tuple[str, ...]
    partial: Any

class FileError(Error, OSError): ...
class InputError(Error, ValueError): ...
class DecodeError(Error): ...
class UnsupportedError(Error): ...

class Element:
    index: int
    start: int
    end: int
    timestamp: int
    value: int
    count: int
    number: int
    cycle_count: int
    context_id: int
    vmid: int
    source: int
    security: int
    level: int
    context_flags: int
    sw_flags: int
    sw_bits: int
    sw_packets: int
    flags: int
    type: int
    reason: int
    last_type: int
    last_subtype: int
    last_size: int
    isa: int
    payload: bytes
    text: str

class MergedElement(Element):
    time: int
    task: int
    cpu: int

class Call:
    begin: int
    end: int
    took: int
    own: int
    instructions: int
    own_instructions: int
    cycles: int
    address: int
    start: int
    site: int
    function: str | None
    file: str | None
    line: int
    task: int
    depth: int
    exception: int
    tid: int
    caller: str | None
    handler: str | None
    kind: int
    unit: int
    timed: bool
    lost: bool
    tail: bool
    ended: bool
    exception_numbers: int

class Instruction:
    index: int
    address: int
    time: int
    offset: int
    text: str | None
    function: str | None
    file: str | None
    line: int
    task: int
    group: int
    cpu: int
    source: int
    size: int
    isa: int
    type: int
    subtype: int
    executed: bool
    conditional: bool
    last: bool
    bytes: bytes
    outcome: str | None

class DwtEvent:
    index: int
    time: int
    pc: int
    address: int
    value: int
    number: int
    source: int
    kind: int
    action: int
    counters: int
    comparator: int
    size: int
    address_size: int
    time_kind: int
    has_pc: bool
    has_address: bool
    has_value: bool
    has_time: bool
    write: bool
    overflow: bool
    text: str

class Batch:
    kind: str
    source: int | None
    buffer: int | None
    segment: int | None
    task: int | None
    cpu: int | None
    time: int | None
    __array_interface__: dict[str, Any]
    def __len__(self) -> int: ...
    def __getitem__(self, n: int) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int) -> memoryview: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def numpy(self) -> Any: ...
    def payload(self, i: int) -> bytes: ...
    def strings(self) -> list[str | None]: ...
    def to_pandas(self) -> Any: ...

class Table:
    columns: tuple[str, ...]
    def __init__(self, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    @overload
    def __getitem__(self, which: slice) -> Table: ...
    @overload
    def __getitem__(self, which: int) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def to_pandas(self) -> Any: ...

class _Batches(Iterator[Batch]):
    def __next__(self) -> Batch: ...
    def close(self) -> None: ...
    def __enter__(self) -> _Batches: ...
    def __exit__(self, *error: object) -> None: ...

class _Rows:
    def batches(self) -> _Batches: ...
    def table(self) -> Table: ...
    def close(self) -> None: ...

class _Elements(_Rows):
    def __iter__(self) -> Iterator[Element]: ...
    def __next__(self) -> Element: ...
    def __enter__(self) -> _Elements: ...
    def __exit__(self, *error: object) -> None: ...

class Slice:
    begin: int
    end: int
    value: int
    track: str
    name: str | None
    file: str | None
    detail: str | None
    line: int
    number: int
    depth: int
    pid: int
    tid: int
    kind: int
    estimated: bool

class _Slices(_Rows):
    def __iter__(self) -> Iterator[Slice]: ...
    def __next__(self) -> Slice: ...
    def __enter__(self) -> _Slices: ...
    def __exit__(self, *error: object) -> None: ...

class _Calls(_Rows):
    def __iter__(self) -> Iterator[Call]: ...
    def __next__(self) -> Call: ...
    def __enter__(self) -> _Calls: ...
    def __exit__(self, *error: object) -> None: ...

class _Instructions(_Rows):
    def __iter__(self) -> Iterator[Instruction]: ...
    def __next__(self) -> Instruction: ...
    def __enter__(self) -> _Instructions: ...
    def __exit__(self, *error: object) -> None: ...

class _Events(_Rows):
    def __iter__(self) -> Iterator[DwtEvent]: ...
    def __next__(self) -> DwtEvent: ...
    def __enter__(self) -> _Events: ...
    def __exit__(self, *error: object) -> None: ...

class Source(NamedTuple):
    id: int
    buffer: int
    name: str | None
    protocol: str | None
    core: str | None
    cpu: int | None

class Buffer(NamedTuple):
    name: str | None
    file: str | None
    transport: str | None
    size: int
    cpu: int | None
    tid: int | None
    chosen: bool

class Task(NamedTuple):
    pid: int
    tid: int
    comm: str
    begin: int

class Object(NamedTuple):
    path: str | None
    kind: str
    state: str
    file: str | None
    symbols: str | None
    why: str | None
    build_id: str | None

class Times(NamedTuple):
    unit: str
    origin: str
    first: int
    last: int

class Finding(NamedTuple):
    code: str
    about: str
    source: int | None
    offset: int
    address: int | None
    count: int
    total: int
    text: str

class Diagnosis(NamedTuple):
    ok: bool
    problems: list[str]
    findings: list[Finding]

class Capture:
    closed: bool
    kind: str
    title: str
    path: pathlib.Path
    live: bool
    facts: dict[str, str]
    sources: list[Source]
    buffers: list[Buffer]
    tasks: list[Task]
    objects: list[Object]
    times: Times
    def __enter__(self) -> Capture: ...
    def __exit__(self, *error: object) -> None: ...
    def close(self) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def diagnosis(self) -> Diagnosis: ...
    def batches(self, *, merge: bool = False, times: bool = False, threads: int | None = None,
                source: Numbers = None, pid: Numbers = None, tid: Numbers = None,
                task: Numbers = None, comm: Names = None, cpu: Numbers = None, dso: Names = None,
                time: Span | None = None) -> _Batches: ...
    def elements(self, *, merge: bool = False, times: bool = False, threads: int | None = None,
                 source: Numbers = None, pid: Numbers = None, tid: Numbers = None,
                 task: Numbers = None, comm: Names = None, cpu: Numbers = None, dso: Names = None,
                 time: Span | None = None) -> _Elements: ...
    def instructions(self, *, before: int | None = None, last: int = 0, text: bool = True,
                     source: Numbers = None, pid: Numbers = None, tid: Numbers = None,
                     task: Numbers = None, comm: Names = None, cpu: Numbers = None,
                     dso: Names = None, time: Span | None = None) -> _Instructions: ...
    def calls(self, *, threads: int | None = None, source: Numbers = None, pid: Numbers = None,
              tid: Numbers = None, task: Numbers = None, comm: Names = None, cpu: Numbers = None,
              dso: Names = None, time: Span | None = None) -> _Calls: ...
    def dwt(self, *, timed: bool = True, source: Numbers = None,
            time: Span | None = None) -> _Events: ...
    def itm(self, port: int = 0, *, source: Numbers = None, time: Span | None = None) -> bytes: ...
    def profile(self, *, stacks: bool = False, threads: int | None = None, source: Numbers = None,
                pid: Numbers = None, tid: Numbers = None, task: Numbers = None, comm: Names = None,
                cpu: Numbers = None, dso: Names = None, time: Span | None = None) -> Profile: ...
    def brstack(self, path: Path | None = None, *, threads: int | None = None,
                source: Numbers = None, pid: Numbers = None, tid: Numbers = None,
                task: Numbers = None, comm: Names = None, cpu: Numbers = None, dso: Names = None,
                time: Span | None = None) -> bytes | None: ...
    def coverage(self, *, source: Numbers = None, pid: Numbers = None, tid: Numbers = None,
                 task: Numbers = None, comm: Names = None, cpu: Numbers = None,
                 time: Span | None = None) -> Coverage: ...
    def timeline(self, *, clock: str = "auto", least: int = 0, depth: int = 0, exact: bool = False,
                 rtos: Path | None = None, threads: int | None = None, source: Numbers = None,
                 pid: Numbers = None, tid: Numbers = None, task: Numbers = None, comm: Names = None,
                 cpu: Numbers = None, dso: Names = None, time: Span | None = None) -> Timeline: ...

class Profile:
    title: str
    instructions: int
    notes: dict[str, int]
    @staticmethod
    def formats() -> Table: ...
    def export(self, format: str = "table", *, dso: Names = None, weight: str = "instructions",
               rows: int = 0, json: bool = False, mangled: bool = False,
               like_simpleperf: bool = False, without_plt: bool = False, title: str | None = None,
               source_dir: Path | None = None) -> bytes: ...
    def diff(self, other: Profile, *, dso: Names = None, rows: int = 0, json: bool = False,
             mangled: bool = False) -> str: ...
    def save(self, path: Path, format: str | None = None, *, dso: Names = None,
             weight: str = "instructions", rows: int = 0, json: bool = False,
             mangled: bool = False, like_simpleperf: bool = False, without_plt: bool = False,
             title: str | None = None, source_dir: Path | None = None) -> None: ...
    def __iadd__(self, other: Profile) -> Profile: ...
    def functions(self, dso: Names = None) -> Table: ...
    def branches(self, dso: Names = None) -> Table: ...
    def lines(self, dso: Names = None) -> Table: ...
    def ranges(self) -> Batch: ...
    def jumps(self) -> Batch: ...
    def objects(self) -> list[str]: ...
    def folded(self, weight: str = "instructions") -> str: ...

class Coverage:
    def __init__(self, profile: Profile) -> None: ...
    def __iadd__(self, other: Coverage) -> Coverage: ...
    def export(self, format: str, *, dso: Names = None,
               source_dir: Path | None = None) -> bytes: ...
    def save(self, path: Path, format: str = "lcov", *, dso: Names = None,
             source_dir: Path | None = None) -> None: ...
    def lcov(self, path: Path | None = None, *, dso: Names = None,
             source_dir: Path | None = None) -> str | None: ...
    def html(self, path: Path, *, dso: Names = None, source_dir: Path | None = None) -> None: ...
    def lines(self, file: Path | None = None) -> Table: ...
    def files(self) -> Table: ...

class Verdict:
    rule: str
    name: str | None
    file: str
    line: int
    verdict: str
    why: str
    excused: bool
    beforehand: bool
    place: dict[str, Any] | None
    violations: int
    unknown: int
    count: int
    unit: str | None
    shortest: int
    longest: int
    total: int
    value: int
    exact: bool
    @property
    def holds(self) -> bool: ...

class Checked(tuple[Verdict, ...]):
    def __bool__(self) -> bool: ...
    @property
    def violated(self) -> list[Verdict]: ...
    @property
    def undecided(self) -> list[Verdict]: ...

class Timeline:
    title: str
    @property
    def unit(self) -> str: ...
    @staticmethod
    def formats() -> Table: ...
    def __iter__(self) -> _Slices: ...
    def slices(self, name: str | None = None, *, kind: str | None = None,
               track: str | None = None, time: Span | None = None) -> Table: ...
    def counts(self) -> dict[str, Any]: ...
    def to_pandas(self) -> Any: ...
    def export(self, format: str = "perfetto") -> bytes: ...
    def save(self, path: Path, format: str = "perfetto") -> None: ...
    def chrome(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

def open(path: Path, *, protocol: str | None = None, transport: str | None = None,
         set: dict[str, int | str] | None = None, core: str | None = None,
         params: Path | None = None, elf: Program | list[Program] | None = None,
         image: Program | list[Program] | None = None, symfs: Path | None = None,
         symdir: Path | list[Path] | None = None, buildid_dir: Path | None = None,
         vmlinux: Path | None = None, kallsyms: Path | None = None, debuginfod: str | None = None,
         debug_dir: Path | list[Path] | None = None, dso: dict[str, Path] | None = None,
         buffer: str | None = None, source: Numbers = None, expansion: int | None = None,
         source_limit: int | None = None, confine: bool = False, reference: bool = False,
         threads: int = 0) -> Capture: ...
def check(captures: Capture | Path | Sequence[Capture | Path],
          rules: str | Sequence[str] | os.PathLike[str], *, strict: bool = False,
          threads: int = 0, pid: Numbers = None, tid: Numbers = None, comm: Names = None,
          cpu: Numbers = None, source: Numbers = None) -> Checked: ...
def read_profile(path: Path) -> Profile: ...
def element_name(kind: int) -> str: ...
def exception_name(numbers: int, number: int) -> str: ...
def disassembler() -> str | None: ...
