"""Launches a Python file's kernel as the C program of tests/test_python.c does: same.py FILE SIZE,SIZE.. ..."""
import sys

from fake_arrays import Interface, at, load

best = load(sys.argv[1])
for text in sys.argv[2:]:
    sizes = [int(size) for size in text.split(",")]
    arrays = {name: Interface(at(i + 1), shape, kind, strides) for i, (name, (shape, strides, kind, _)) in enumerate(
        best.shapes(*sizes).items())}
    scratch = {name: arrays.pop(name) for name in list(arrays) if name not in best.ARRAYS}
    assert best.supports(*sizes)
    best.run(*arrays.values(), sizes=sizes, stream=0x77, scratch=scratch)
