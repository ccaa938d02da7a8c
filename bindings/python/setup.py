# SPDX-License-Identifier: MIT
"""Builds the extension with CMake. PUGMARK_BUILD_DIR names a build that is there already."""

import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


def version():
    text = (SOURCE / "include/pugmark/pugmark.h").read_text()
    return ".".join(re.search(rf"#define PUG_VERSION_{part} (\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        build = os.environ.get("PUGMARK_BUILD_DIR")
        if not build:
            build = pathlib.Path(self.build_temp).resolve() / "cmake"
            subprocess.run(["cmake", "-S", SOURCE, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                            "-DPUG_TESTS=OFF", "-DPUG_FUZZ=OFF", "-DPUG_MPI=OFF",
                            f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "pugmark_python", "--parallel"],
                       check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(pathlib.Path(build) / "python/pugmark/_core.abi3.so"), str(target))


setup(version=version(),
      ext_modules=[Extension("pugmark._core", [], py_limited_api=True)],
      cmdclass={"build_ext": CMakeBuild},
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
