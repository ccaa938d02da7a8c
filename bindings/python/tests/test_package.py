# SPDX-License-Identifier: MIT
"""The package: every Python here loads it, pip installs it, stubs and plugin work."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import pugmark
from conftest import BIN, SOURCE

PACKAGE = pathlib.Path(pugmark.__file__).resolve().parents[1]


def pythons():
    """Every Python of 3.11 or later that can be found."""
    places = [pathlib.Path("/usr/bin"), pathlib.Path("/usr/local/bin"),
              *pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob(
                  "versions/*/bin")]
    found = {}
    for place in places:
        for name in ("python3", "python3-dbg", *(f"python3.{n}" for n in range(11, 20))):
            if (place / name).exists():
                found[(place / name).resolve()] = None
    return list(found)


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_every_python_loads_it(python, small):
    new = subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
    if new.returncode:
        pytest.skip("older than 3.11")
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import pugmark\n"
            "with pugmark.open(sys.argv[2]) as capture:\n"
            "    print(sum(len(memoryview(batch)) for batch in capture.batches()))")
    done = subprocess.run([python, "-X", "dev", "-I", "-c", code, PACKAGE, small],
                          capture_output=True, text=True)
    assert done.stdout == "26361\n", done.stderr
    assert not done.stderr


def test_debug_python(small):
    python = shutil.which("python3-dbg")
    if not python:
        pytest.skip("needs python3-dbg")
    code = ("import sys, gc; sys.path.insert(0, sys.argv[1]); import pugmark\n"
            "from pugmark import advanced\n"
            "def work():\n"
            "    with pugmark.open(sys.argv[2]) as capture:\n"
            "        for batch in capture.batches(): batch[0], str(batch[0]), memoryview(batch)\n"
            "        next(capture.calls()), next(capture.instructions()).text\n"
            "        capture.profile(stacks=True).functions(), capture.info()\n"
            "        next(advanced.packets(capture)).payload, advanced.Index(capture).counts()\n"
            "        pugmark.Table(['a'], [(1,)]).__arrow_c_stream__()\n"
            "        next(iter(capture.timeline())).name, capture.timeline(depth=2).export('chrome')\n"
            "        advanced.encode('idle')\n"
            "        advanced.Tree('coresight').end()\n"
            "    for bad in ('/none', 'x', 3):\n"
            "        try: pugmark.open(bad)\n"
            "        except (pugmark.Error, TypeError): pass\n"
            "def state():\n"
            "    gc.collect()\n"
            "    kinds = (pugmark.Batch, pugmark.Element, pugmark.Call, advanced.Packet)\n"
            "    return sys.getallocatedblocks(), [sys.getrefcount(kind) for kind in kinds]\n"
            "for _ in range(4): work()\n"
            "before = state()\n"
            "for _ in range(50): work()\n"
            "after = state(); print(after[0] - before[0], *(b - a for a, b in zip(before[1], "
            "after[1])))\n")
    done = subprocess.run([python, "-X", "dev", "-c", code, PACKAGE, small], capture_output=True,
                          text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert all(abs(int(number)) < 40 for number in done.stdout.split()), done.stdout


def test_pip(tmp_path, small):
    """pip installs it without a network; the build that is there serves."""
    made = subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                           "--system-site-packages", tmp_path / "v"], capture_output=True, text=True)
    if made.returncode:
        pytest.skip("needs python3-venv")
    there = ("import sys, importlib.util as u\n"
             "sys.exit(not all(map(u.find_spec, ('pip', 'setuptools', 'wheel'))))")
    if subprocess.run([tmp_path / "v/bin/python", "-c", there]).returncode:
        pytest.skip("needs python3-pip, python3-setuptools and python3-wheel")
    shutil.copytree(SOURCE / "bindings/python", tmp_path / "s/bindings/python",
                    ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    (tmp_path / "s/include/pugmark").mkdir(parents=True)  # the version
    shutil.copy(SOURCE / "include/pugmark/pugmark.h", tmp_path / "s/include/pugmark")
    environment = {**os.environ, "PUGMARK_BUILD_DIR": str(BIN.parent), "PYTHONPATH": ""}
    done = subprocess.run([tmp_path / "v/bin/python", "-m", "pip", "install", "--no-index",
                           "--no-build-isolation", "."], cwd=tmp_path / "s/bindings/python", env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import sys, pugmark; print(pugmark.__file__, len(pugmark.open(sys.argv[1]).sources))"
    out = subprocess.run([tmp_path / "v/bin/python", "-c", code, small], env=environment,
                         capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) in out and out.endswith(" 1\n")
    tag = next((tmp_path / "v").rglob("pugmark-*.dist-info/WHEEL")).read_text()
    assert "cp311-abi3" in tag


def test_stubs(tmp_path):
    """mypy takes a program that uses the package, and finds what is wrong with another."""
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode:
        pytest.skip("needs python3-mypy")
    (tmp_path / "good.py").write_text(
        "import pugmark\n"
        "with pugmark.open('x', symfs='root') as capture:\n"
        "    for batch in capture.batches():\n"
        "        n: int = batch[0].start + len(batch.payload(0))\n"
        "    for call in capture.calls(tid=700):\n"
        "        name = call.function or hex(call.start)\n"
        "    for insn in capture.instructions(before=pugmark.EXCEPTION, last=20):\n"
        "        print(insn.text, insn.line)\n"
        "    capture.profile(stacks=True).save('out', format='autofdo', dso='app')\n"
        "    capture.coverage().lcov('all.info')\n")
    (tmp_path / "bad.py").write_text("import pugmark\npugmark.open('x').calls().nothing\n")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE)}
    run = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache"]
    good = subprocess.run([*run, tmp_path / "good.py"], env=environment, capture_output=True,
                          text=True)
    assert good.returncode == 0, good.stdout
    bad = subprocess.run([*run, tmp_path / "bad.py"], env=environment, capture_output=True,
                         text=True)
    assert "nothing" in bad.stdout


def test_plugin(tmp_path, small):
    """The fixture opens a trace, and a failure about it says what ran."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["pugmark.pytest_plugin"]\n')
    times = SOURCE / "tests/captures/etmv4-arm-times"
    (tmp_path / "test_it.py").write_text(
        f"def test_good(trace):\n    assert 'fibonacci' in trace.functions(trace({str(times)!r}))\n"
        f"def test_bad(trace):\n    assert 'fibonaccI' in trace.functions(trace({str(times)!r}))\n"
        f"def test_none(trace):\n    assert trace.exceptions(trace({str(small)!r})) == []\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed" in done.stdout or "2 passed" in done.stdout, done.stdout
    assert "fibonaccI did not run" in done.stdout and "these did: fibonacci" in done.stdout
    assert "the last calls in the trace:" in done.stdout


def test_plugin_records(tmp_path):
    """trace.record runs a program under QEMU; what it cannot run fails with the command's words."""
    if not shutil.which("qemu-aarch64"):
        pytest.skip("needs QEMU's user mode")
    program = SOURCE / "examples/crash/crash"
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        f"PROGRAM = {str(program)!r}\n"
        "def test_run(trace):\n"
        "    first, second = trace.record([PROGRAM]), trace.record(PROGRAM, protocol='ete')\n"
        "    assert first.sources[0].protocol == 'ETMV4I' and second.sources[0].protocol == 'ETE'\n"
        "    for capture in first, second:\n"
        "        assert 'find' in trace.functions(capture)\n"
        "    trace.runs('find')\n"
        "def test_wrong_option(trace):\n    trace.record(PROGRAM, options=['--nothing'])\n"
        "def test_no_program(trace):\n    trace.record('/nothing')\n")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
                           "pugmark.pytest_plugin", "--pugmark", BIN / "pugmark"], cwd=tmp_path,
                          capture_output=True, text=True, env=environment)
    assert "1 passed" in done.stdout and "2 failed" in done.stdout, done.stdout + done.stderr
    assert "unknown option" in done.stdout and "No such file" in done.stdout
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
                           "pugmark.pytest_plugin", "--pugmark", "no-such-command", "-k", "run"],
                          cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert "1 skipped" in done.stdout, done.stdout
