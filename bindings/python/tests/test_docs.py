# SPDX-License-Identifier: MIT
"""The examples in docstrings are run, and everything public has a docstring."""

import doctest
import inspect

import pytest

import pugmark
from pugmark import _capture, _profile, _rows, _timeline, advanced


@pytest.mark.parametrize("module", [pugmark, _capture, _profile, _rows, _timeline, advanced],
                         ids=lambda module: module.__name__)
def test_examples(module, small, tmp_path):
    with pugmark.open(small) as capture:
        names = {"capture": capture, "pugmark": pugmark, "SNAPSHOT": str(small),
                 "FOLDER": tmp_path, **vars(module)}
        failed, _ = doctest.testmod(module, extraglobs=names)
    assert failed == 0


def test_all_is_documented():
    for name in pugmark.__all__:
        thing = getattr(pugmark, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, name
            for part, member in vars(thing).items() if inspect.isclass(thing) else ():
                if not part.startswith("_") and callable(member):
                    assert member.__doc__, f"{name}.{part}"
