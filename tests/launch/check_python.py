"""Checks of Python files with tuned kernels, on the GPUs of fake_libcuda.c: check_python.py FOLDER CHECK. The folder
has the files of configs/sgemm_2048.cfg, sum.cfg and bgemm_1024.cfg."""
import ast
import contextlib
import ctypes
import os
import sys
import threading
import types

from fake_arrays import Interface, Pack, at, load

FOLDER = sys.argv[1]
N = 2048


def launched():
    """The lines that the fake driver has written since the last call."""
    path = os.environ["FAKE_LOG"]
    lines = open(path, encoding="ascii").read().splitlines() if os.path.exists(path) else []
    if lines:
        os.remove(path)
    return lines


def expect(error, part, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except error as raised:
        assert part in str(raised), "%r, not %r" % (str(raised), part)
    else:
        raise AssertionError("no %s: %s" % (error.__name__, part))
    assert not launched(), part


def product(kind=Interface, device=0, **named):
    return [kind(at(i + 1, device), (N, N), **named) for i in range(3)]


def sgemm():
    return load(os.path.join(FOLDER, "sgemm_2048_best.py"))


def driver():
    return ctypes.CDLL("libcuda.so.1")


def count(name):
    return ctypes.c_int.in_dll(driver(), name).value


def check_import():
    best = sgemm()
    with open(best.__file__, encoding="ascii") as file:
        ast.parse(file.read(), feature_version=(3, 8))
    assert "sgemm_2048: the fastest configuration" in best.__doc__ and "C: f32, out, M x N" in best.__doc__
    assert best.SIZES == ("M", "N", "K") and best.ARRAYS == ("A", "B", "C") and best.INPUTS == ("A", "B")
    assert best.supports(N, N, N) and not best.supports(N + 1, N, N) and not best.supports(0, 0, 0)
    assert best.shapes(N, 7, 5)["C"] == ((N, 7), (7, 1), "f32", "out")
    expect(TypeError, "pass the sizes M, N, K", best.supports, N)
    expect(RuntimeError, os.environ["EXPECTED"], best.run, *product())


def check_mistakes():
    best = sgemm()
    a, b, c = product()
    masked = Interface(at(2), (N, N))
    masked.__cuda_array_interface__["mask"] = Interface(at(4), (N, N), "|b1")
    for error, part, arrays in 2 * (  # also after good calls with the same layouts and addresses
            (TypeError, "1 arrays are given: pass A, B, C", (a,)),
            (TypeError, "5 is not an array on a GPU", (a, 5, c)),
            (TypeError, "B must have elements of the type f32, not <f8", (a, Interface(at(2), (N, N), "f64"), c)),
            (TypeError, "B must have elements of the type f32, not |b1", (a, Interface(at(2), (N, N), "|b1"), c)),
            (TypeError, "B must have elements of the type f32, not (0, 32, 1)", (a, Pack(at(2), (N, N), "i32"), c)),
            (ValueError, "C must have the shape (2048, 2048), not (2048, 2047)", (a, b, Interface(at(3), (N, N - 1)))),
            (ValueError, "B must have the shape (2048, 2048), not (2048,)", (a, Interface(at(2), (N,)), c)),
            (ValueError, "B must have the strides (2048, 1), in elements, not (4096.0, 1.0)",
             (a, Interface(at(2), (N, N), strides=(2 * N, 1)), c)),
            (ValueError, "A must have the strides (2048, 1), in elements, not (1, 2048)",
             (Pack(at(1), (N, N), strides=(1, N)), b, c)),
            (ValueError, "A: 0, B: 1, C: 0", (a, Interface(at(2, 1), (N, N)), c)),
            (ValueError, "A: 0, B: -1, C: 0", (a, Interface(4096, (N, N)), c)),
            (ValueError, "A: 0, B: -1, C: 0", (a, Pack(4096, (N, N), device_kind=1), c)),
            (ValueError, "A: -1, B: -1, C: -1", [Pack(4096, (N, N), device_kind=1) for _ in range(3)]),
            (TypeError, "an array has a mask", (a, masked, c)),
            (ValueError, "B must be at a multiple of 16", (a, Interface(at(2) + 4, (N, N)), c)),
            (ValueError, "C is written, but the array is read-only", (a, b, Interface(at(3), (N, N), read_only=True))),
            (ValueError, "sizes that have not been verified: M=16, N=16, K=16",
             [Interface(at(i), (16, 16)) for i in (1, 2, 3)]),
            (TypeError, "the array C must be given: f32, (2048, 2048)", (a, b)),
            (ValueError, "the arrays belong to different streams",
             (a, Interface(at(2), (N, N), stream=5), Interface(at(3), (N, N), stream=6)))):
        expect(error, part, best.run, *arrays)
        expect(error, part, best.prepare, *arrays)
        best.run(a, b, c)
        assert len(launched()) == 1
    expect(ValueError, "A must have the shape (2047, 2048)", best.run, a, b, c, sizes={"M": N - 1})
    expect(TypeError, "pass the sizes M, N, K", best.run, a, b, c, sizes=[N, N])
    expect(TypeError, "cannot be interpreted as an integer", best.run, a, b, c, sizes={"M": float(N)})
    expect(TypeError, "pass the sizes M, N, K", best.shapes, N)
    expect(TypeError, "sizes has X; the names are: M, N, K", best.run, a, b, c, sizes={"X": N})
    expect(TypeError, "scratch has A; the names are: ", best.run, a, b, c, scratch={"A": a})
    b.__cuda_array_interface__["data"] = at(2) + 8, False  # the same array as in the good calls
    expect(ValueError, "B must be at a multiple of 16", best.run, a, b, c)


def check_arrays():
    best = sgemm()
    best.run(*product(), stream=1)
    same = launched()
    assert len(same) == 1 and "stream 1 " in same[0]
    packs = product(Pack)
    best.run(*packs)
    assert [line.replace("stream 0", "stream 1") for line in launched()] == same
    assert [pack.streams for pack in packs] == [[1], [1], [1]]
    moved = [Pack(at(i + 1) - 64, (N, N), offset=64, strides=(N, 1)) for i in range(3)]
    best.run(*moved, stream=9, sizes=[N, N, N])
    assert [line.replace("stream 9", "stream 1") for line in launched()] == same and moved[0].streams == [9]
    old = [type("Both", (Interface, Pack), {"__init__": lambda self, i: (
        Interface.__init__(self, at(i), (N, N), version=2), Pack.__init__(self, at(i), (N, N)))[0]})(i + 1)
           for i in range(3)]
    best.run(*old)
    assert [one.streams for one in old] == [[1], [1], [1]]  # an interface of version 2 does not order streams
    bf16 = load(os.path.join(FOLDER, "bgemm_1024_best.py"))
    lines = []
    for kind in ("bf16", "u16"):
        launched()
        bf16.run(*[Interface(at(i), (1024, 1024), kind) for i in (1, 2, 3)])
        lines.append(launched())
    assert lines[0] == lines[1] and len(lines[0]) == 1
    assert count("fake_allowed") == int(lines[0][0].split(" shared ")[1].split()[0]) > 49152
    expect(TypeError, "must have elements of the type bf16, not <f2", bf16.run,
           *[Interface(at(i), (1024, 1024), "f16") for i in (1, 2, 3)])


def check_streams():
    best = sgemm()
    a, b, c = product(stream=7)
    call = best.prepare(a, b, c)
    call()
    best.run(a, b, c)
    a.__cuda_array_interface__["stream"] = 8
    call()
    pointer = types.SimpleNamespace(handle=ctypes.c_void_p(10))
    protocol = types.SimpleNamespace(__cuda_stream__=lambda: (0, 13))
    for stream in (types.SimpleNamespace(cuda_stream=11), types.SimpleNamespace(ptr=12), pointer, protocol, 14, 0,
                   types.SimpleNamespace(handle=ctypes.c_void_p())):
        call(stream)
        best.run(a, b, c, stream=stream)
    fixed = best.prepare(a, b, c, stream=15)
    fixed()
    streams = [int(line.split(" stream ")[1].split()[0], 16) for line in launched()]
    assert streams == [7, 7, 8, 11, 11, 12, 12, 10, 10, 13, 13, 14, 14, 0, 0, 0, 0, 15], streams
    for stream in range(100, 300):  # more than are kept
        call(stream)
    assert len(launched()) == 200 and call.ready.plan is fixed.ready.plan


def check_scratch():
    best = load(os.path.join(FOLDER, "sum_best.py"))
    size = 1 << 25
    needed = best.shapes(size)
    assert best.ARRAYS == ("out", "x")
    x, out = Interface(at(1), (size,)), Interface(at(2), needed["out"][0])
    scratch = {name: Interface(at(3 + i), shape, kind) for i, (name, (shape, _, kind, direction)) in enumerate(
        needed.items()) if direction == "scratch"}
    expect(TypeError, "must be given", best.run, out, x)
    best.run(out, x, scratch=scratch)
    lines = launched()
    place = scratch["count"].__cuda_array_interface__["data"][0]
    assert lines[0].startswith("fill %x with 0, 4 bytes, stream 0" % place)
    assert len(lines) == 2 and lines[1].startswith("context 1000"), lines
    expect(ValueError, "count must have at least 4 bytes", best.run, out, x,
           scratch={**scratch, "count": Interface(at(9), (3,), "u8")})
    best.run(out, x, scratch={**scratch, "count": Interface(at(9), (4,), "u8")})
    assert len(launched()) == 2


def check_threads():
    best = sgemm()
    barrier, errors = threading.Barrier(8), []

    def work(device):
        try:
            barrier.wait()
            for _ in range(20):
                best.run(*product(device=device))
                with contextlib.suppress(ValueError):
                    best.run(*product(device=device)[:2], product(device=1 - device)[2])
                    errors.append("on two devices")
            best.prepare(*product(device=device))()
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = launched()
    assert not errors, errors
    assert sorted(line.split()[1] for line in lines) == 4 * 21 * ["1000"] + 4 * 21 * ["2000"] and len(set(lines)) == 2
    assert (count("fake_loads"), count("fake_functions"), count("fake_inits")) == (1, 2, 1)
    assert not ctypes.CDLL("libcuda.so.1").cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())) == 0  # none left


def check_contexts():
    best, cuda = sgemm(), driver()
    calls = []
    for context, device, expected in ((None, 0, "1000"), (0x1000, 0, "1000"), (0x1004, 0, "1004"), (0x1004, 1, "2000"),
                                      (0x2004, 1, "2004"), (0x2004, 0, "1000"), (None, 1, "2000")):
        if context:
            cuda.cuCtxPushCurrent_v2(ctypes.c_void_p(context))
        for _ in range(2):
            best.run(*product(device=device))
        calls.append((best.prepare(*product(device=device)), "context %s " % expected))
        calls[-1][0]()
        current = ctypes.c_void_p()
        cuda.cuCtxGetCurrent(ctypes.byref(current))
        assert current.value == context
        lines = launched()
        assert len(lines) == 3 and all(line.startswith("context %s " % expected) for line in lines), lines
        if context:
            cuda.cuCtxPopCurrent_v2(ctypes.byref(current))
    assert count("fake_loads") == 1 and count("fake_functions") == 4
    for call, expected in calls:  # a prepared call keeps its context, whichever is the current one
        call()
        assert launched()[0].startswith(expected)


def check_capture():
    best, cuda = sgemm(), driver()
    ctypes.c_int.in_dll(cuda, "fake_capturing").value = 1
    best.run(*product())
    best.prepare(*product())()
    assert len(launched()) == 2
    library = ctypes.c_void_p()
    assert cuda.cuLibraryLoadData(ctypes.byref(library), b"\177ELF1", None, None, 0, None, None, 0) == 900  # as before


def check_device():
    best = sgemm()
    expect(RuntimeError, os.environ["EXPECTED"], best.run, *product())


def check_binary():
    best = sgemm()
    best.run(*product())
    assert "library %s " % sys.argv[3] in launched()[0]


class Type:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


TYPES = {name: Type("torch." + name) for name in (
    "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64")}


class Tensor:
    """The used part of torch's class."""

    def __init__(self, address, shape, dtype=TYPES["float32"], device=0, strides=None):
        self.address, self.shape, self.dtype, self.device = address, tuple(shape), dtype, device
        self.strides, self.recorded = strides or tuple([N, 1][-len(shape):]), []

    def data_ptr(self):
        return self.address

    def stride(self):
        return self.strides

    def get_device(self):
        return self.device

    def record_stream(self, stream):
        self.recorded.append(stream)

    def new_empty_strided(self, shape, strides, dtype):
        return Tensor(0, shape, dtype, "meta", strides)


def fake_torch():
    """Installs a fake torch, where device d has the current stream 20 + d. Returns new tensors and registrations."""
    torch, made, registered = types.ModuleType("torch"), [], {}

    class Library:
        def __init__(self, namespace, kind):
            registered["library"] = namespace, kind

        def define(self, schema, tags):
            registered["schema"] = schema

        def impl(self, name, function, key):
            registered[key] = function
            setattr(torch.ops.sweetspot, name, types.SimpleNamespace(default=function))

    def empty_strided(shape, strides, dtype, device):
        made.append(Tensor(at(10 + len(made)), shape, dtype, device, strides))
        return made[-1]

    for name, kind in TYPES.items():
        setattr(torch, name, kind)

    @contextlib.contextmanager
    def stream(other):
        before = torch._C._cuda_getCurrentRawStream
        torch._C._cuda_getCurrentRawStream = lambda device: other[0]
        registered["stream"] = other
        yield
        torch._C._cuda_getCurrentRawStream = before

    torch.Tensor, torch.empty_strided = Tensor, empty_strided
    torch.ops = types.SimpleNamespace(sweetspot=types.SimpleNamespace())
    torch.Tag = types.SimpleNamespace(pt2_compliant_tag=1, needs_exact_strides=2)
    torch.library = types.SimpleNamespace(Library=Library, register_fake=lambda name, function, lib: registered.update(
        fake=(name, function)))
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 20 + device)
    torch.cuda = types.SimpleNamespace(stream=stream, ExternalStream=lambda handle, device: (handle, device),
                                       default_stream=lambda device: ("default", device))
    sys.modules["torch"] = torch
    return made, registered


def check_torch():
    made, registered = fake_torch()
    best = sgemm()
    a, b, c = [Tensor(at(i + 1), (N, N)) for i in range(3)]
    assert best.run(a, b, c) is c and best.run(a, b) is made[0] and best.op(a, b) is made[1]
    assert "stream 14 " in launched()[0] and made[0].shape == (N, N) and not c.recorded
    assert registered["schema"] == "sgemm_2048_best(Tensor A, Tensor B) -> Tensor" and registered["CUDA"] is best.op
    assert registered["fake"][0] == "sweetspot::sgemm_2048_best"
    assert registered["fake"][1](a, b).shape == (N, N) and len(made) == 2
    best.run(a, b, c, stream=33)
    best.run(a, b, c, stream=20)  # the current stream
    best.run(a, b, c, stream=0)
    assert c.recorded == [(33, 0), ("default", 0)] and a.recorded == c.recorded
    assert [line.split()[3] for line in launched()] == ["21", "14", "0"]
    call = best.prepare(a, b)
    assert call() is made[2] and not made[2].recorded and "stream" not in registered
    call(34)
    assert made[2].recorded == [(34, 0)]
    fixed = best.prepare(a, b, stream=35)
    assert fixed() is made[3] and registered["stream"] == made[3].recorded[0] == (35, 0)  # made on its stream
    other = [Tensor(at(i + 1, 1), (N, N), device=1) for i in range(3)]
    launched()
    best.run(*other)
    assert launched()[0].startswith("context 2000 stream 15 ")
    seven, eight = [Interface(at(4), (N, N), stream=stream) for stream in (7, 8)]
    best.run(seven, b, c)  # torch's stream, although the array names another one
    best.run(a, seven, eight)
    assert [line.split()[3] for line in launched()] == ["14", "14"]
    expect(ValueError, "A: 0, B: 1, C: 0", best.run, a, other[1], c)
    expect(ValueError, "A: 0, B: -1, C: 0", best.run, a, Tensor(4096, (N, N), device=-1), c)
    expect(TypeError, "must have elements of the type f32, not torch.float64", best.run, a,
           Tensor(at(2), (N, N), TYPES["float64"]), c)
    expect(ValueError, "must have the strides (2048, 1), in elements, not (1, 2048)", best.run, a,
           Tensor(at(2), (N, N), strides=(1, N)), c)
    best = load(os.path.join(FOLDER, "sum_best.py"))
    launched()
    assert best.run(Tensor(at(1), (1 << 25,))).shape == (1,)  # with scratch, which is filled
    assert [line.split()[0] for line in launched()] == ["fill", "context"]
    assert TYPES["int32"] in [one.dtype for one in made], [one.dtype for one in made]


globals()["check_" + sys.argv[2]]()
