# SPDX-License-Identifier: MIT
"""Every format of profiles and coverage is what the command writes."""

import pytest

import pugmark
from conftest import SOURCE

NAMES = [row.name for row in pugmark.Profile.formats()]


@pytest.mark.parametrize("name", NAMES)
def test_profile_format(name, command):
    path = SOURCE / "tests/captures/etmv4-arm-times"  # its program has names
    expected = command("profile", path, "--format", name, "--stacks", codes=(0, 1, 2, 3, 4))
    with pugmark.open(path) as capture:
        profile = capture.profile(stacks=True)
    if not expected:
        with pytest.raises(pugmark.Error):
            profile.export(name)
    elif name == "report":
        assert profile.export(name).startswith(expected[:9])  # the command says more of the capture
    else:
        assert profile.export(name) == expected


def test_brstack(command, tmp_path):
    path = SOURCE / "tests/captures/etmv4-arm-times"
    expected = command("profile", path, "--format", "brstack", codes=(0, 1, 2, 3, 4))
    with pugmark.open(path) as capture:
        try:
            assert capture.brstack() == expected
        except pugmark.Error:
            assert not expected


def test_diff(command, tmp_path):
    with pugmark.open(SOURCE / "examples/crash") as capture:
        before, after = capture.profile(), capture.profile()
        after += capture.profile()
        for name, profile in ("a", before), ("b", after):
            profile.save(tmp_path / name)
        expected = command("diff", tmp_path / "a", tmp_path / "b")
        assert expected and before.diff(after).encode() == expected
        with pytest.raises(ValueError):
            before.diff(before)


def test_saved(small, command, tmp_path):
    with pugmark.open(small) as capture:
        profile = capture.profile(stacks=True)
    profile.save(tmp_path / "a.prof")
    command("profile", small, "--stacks", "--output", tmp_path / "b.prof")
    assert (tmp_path / "a.prof").read_bytes() == (tmp_path / "b.prof").read_bytes()
    again = pugmark.read_profile(tmp_path / "a.prof")
    count = again.instructions
    again += profile
    assert again.instructions == 2 * count
    with pytest.raises(pugmark.InputError):
        (tmp_path / "bad.prof").write_bytes(b"PUGMARK?")
        pugmark.read_profile(tmp_path / "bad.prof")


@pytest.fixture(scope="module")
def with_lines(tmp_path_factory):
    """A program with lines that ran under QEMU: made here, where the tools are."""
    import shutil
    import subprocess

    from conftest import BIN

    folder = tmp_path_factory.mktemp("lines")
    for tool in ("clang", "ld.lld", "qemu-aarch64"):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool}")
    (folder / "p.c").write_text("int f(int n)\n{\n    return n > 2 ? n * 3 : n;\n}\n"
                                "void _start(void)\n{\n"
                                "    register long status __asm(\"x0\") = f(1) + f(5) - 16;\n"
                                "    register long call __asm(\"x8\") = 94;\n"
                                "    __asm volatile(\"svc #0\" :: \"r\"(status), \"r\"(call));\n"
                                "}\n")
    subprocess.run(["clang", "--target=aarch64-linux-gnu", "-g", "-O0", "-static", "-nostdlib",
                    "-ffreestanding", "-fuse-ld=lld", "p.c", "-o", "p"], cwd=folder, check=True)
    subprocess.run([BIN / "pugmark", "record", "--quiet", "--protocol", "etmv4", "--out", "trace",
                    "--", "./p"], cwd=folder, check=True)
    return folder / "trace"


def test_coverage(with_lines, command):
    with pugmark.open(with_lines) as capture:
        coverage = capture.coverage()
        assert coverage.lcov().encode() == command("coverage", with_lines, "--format", "lcov")
        assert any(line.count for line in coverage.lines("p.c"))
        calls = [call for call in capture.calls() if call.function == "f"]
    assert len(calls) == 2 and calls[0].file.endswith("p.c") and calls[0].line == 2
