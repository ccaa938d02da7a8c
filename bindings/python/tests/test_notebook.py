# SPDX-License-Identifier: MIT
"""The notebook runs, and its outputs are those that it has."""

import pytest

from conftest import SOURCE

FOLDER = SOURCE / "bindings/python/notebook"


def texts(notebook):
    """What each cell printed or showed as text."""
    return [[output.get("text") or output["data"]["text/plain"] for output in cell.outputs]
            for cell in notebook.cells if cell.cell_type == "code"]


def test_notebook():
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(FOLDER / "crash.ipynb", 4)
    expected = texts(notebook)
    assert sum(map(len, expected)) >= 7
    client.NotebookClient(notebook, timeout=120,
                          resources={"metadata": {"path": FOLDER}}).execute()
    assert texts(notebook) == expected
