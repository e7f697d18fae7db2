#!/usr/bin/env python3
"""Checks the Python file of a matrix product on a GPU: tunes a job briefly, writes the file, compares its results with
torch.matmul, measures the host's time for a launch in each way, and tries torch.compile, CUDA graphs, streams, threads,
other devices and wrong arrays.

Usage: tests/measure/python_launch.py [JOB]        configs/bgemm_1024.cfg without an argument

BIN: where the programs are (out/bin). TIME: for the search (30s). UNTIMED: the host's times are not checked. Needs
torch, and CuPy for arrays that are not torch's. Ends with the number of checks that hold; the exit status is 1 if one
does not.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import time

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

LIMITS = {"prepared call": 8, "array interface": 15, "torch operator": 25}  # us
failed = held = 0


def check(name, holds, more=""):
    global failed, held
    print("%-60s %s%s" % (name, "holds" if holds else "DOES NOT HOLD", more and ": " + more), flush=True)
    held, failed = held + bool(holds), failed + (not holds)


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    start = time.perf_counter()
    spec.loader.exec_module(module)
    print("imported in %.0f ms" % (1e3 * (time.perf_counter() - start)))
    return module


class Product:
    """A and B whose product is exact in FP32, so that every order of summation gives the same result."""

    def __init__(self, best, device="cuda"):
        self.sizes = best._sections[0]["problems"][0]["sizes"]
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[best.shapes(*self.sizes)["A"][2]]
        transposed = best.shapes(16, 32, 64)["B"][0] == (32, 64)
        generator = torch.Generator("cpu").manual_seed(1)
        self.A, self.B = [torch.randint(-1, 2, best.shapes(*self.sizes)[name][0], generator=generator).to(device, dtype)
                          for name in "AB"]
        self.factor = self.B.T if transposed else self.B
        self.right = torch.matmul(self.A, self.factor)

    def is_right(self, result):
        return torch.equal(result, self.right)


def host_time(function):
    """The time of a call in us: the median over 200 batches of 50 calls, while the GPU's queue has room."""
    times = []
    for _ in range(200):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(50):
            function()
        times.append((time.perf_counter() - start) / 50)
    return 1e6 * sorted(times)[100]


def gpu_time(function):
    """The time of a launch in us, with 200 in a row in a CUDA graph."""
    graph, (begin, end) = torch.cuda.CUDAGraph(), [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    function()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(200):
            function()
    times = []
    for _ in range(20):
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * begin.elapsed_time(end) / 200)
    return sorted(times)[10]


class Interface:
    """An array that belongs to no library and has the array interface."""

    def __init__(self, address, shape, letters):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape, "typestr": letters, "version": 3,
                                         "strides": None, "stream": torch.cuda.current_stream().cuda_stream or 1}


def of_cupy(tensor):
    """The same memory as a CuPy array, with BF16 as int16, because CuPy has no BF16."""
    return cupy.from_dlpack(tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor)


def measure(best, p):
    C = torch.empty_like(p.right)
    call = best.prepare(p.A, p.B, C)
    letters = {torch.float32: "<f4", torch.bfloat16: "<u2", torch.float16: "<f2"}[C.dtype]
    plain = [Interface(t.data_ptr(), tuple(t.shape), letters) for t in (p.A, p.B, C)]
    ways = [("prepared call", call), ("array interface", lambda: best.run(*plain)),
            ("torch operator", lambda: best.op(p.A, p.B)), ("run with tensors", lambda: best.run(p.A, p.B, C)),
            ("run with tensors, new output", lambda: best.run(p.A, p.B))]
    if cupy:
        arrays = [of_cupy(t).view("u2") if C.dtype == torch.bfloat16 else of_cupy(t) for t in (p.A, p.B, C)]
        ways.insert(2, ("array interface of CuPy", lambda: best.run(*arrays)))
        ways.append(("prepared call of CuPy", best.prepare(*arrays)))
    ways += [("torch.matmul, for comparison", lambda: torch.matmul(p.A, p.factor)),
             ("torch.matmul into an array", lambda: torch.matmul(p.A, p.factor, out=C))]
    for name, function in ways:
        C.zero_()
        function()
        us = host_time(function)
        limit = next((limit for way, limit in LIMITS.items() if name.startswith(way)), None)
        if limit and not os.environ.get("UNTIMED"):
            check("host time of a launch, %s" % name, us <= limit, "%.2f us of %d us" % (us, limit))
        else:
            print("host time of a launch, %s: %.2f us" % (name, us))
    call()
    check("a prepared call is right", p.is_right(C))
    C.zero_()
    best.run(*plain)
    torch.cuda.synchronize()
    check("a call through the array interface is right", p.is_right(C))
    if cupy:
        C.zero_()
        torch.cuda.synchronize()
        best.run(*arrays)
        cupy.cuda.Device().synchronize()
        check("a call with CuPy's arrays is right", p.is_right(C))
        if C.dtype != torch.bfloat16:
            check("CuPy's outputs are made", p.is_right(torch.from_dlpack(best.run(*arrays[:2]))))
    ours, theirs = gpu_time(call), gpu_time(lambda: torch.matmul(p.A, p.factor, out=C))
    print("GPU time: %.2f us, torch.matmul %.2f us" % (ours, theirs))


class Pack:
    """A tensor that supports only DLPack."""

    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


def try_torch(best, p):
    check("run is torch.matmul's result", p.is_right(best.run(p.A, p.B)))
    check("the operator is, too", p.is_right(best.op(p.A, p.B)))
    C = torch.zeros_like(p.right)
    best.run(Pack(p.A), Pack(p.B), Pack(C))
    torch.cuda.synchronize()
    check("DLPack is right", p.is_right(C))
    for name, function in (("opcheck", lambda: torch.library.opcheck(best.op, (p.A, p.B))),
                           ("torch.compile", lambda: compiled(best, p, {})),
                           ("torch.compile, dynamic", lambda: compiled(best, p, {"dynamic": True})),
                           ("torch.compile, reduce-overhead", lambda: compiled(best, p, {"mode": "reduce-overhead"}))):
        try:
            result = function()
            check(name, result is not False, "" if isinstance(result, bool) else str(result))
        except Exception as error:  # any failure: the others are still tried
            check(name, False, "%s: %s" % (type(error).__name__, str(error)[:500]))


def compiled(best, p, options):
    function = torch.compile(lambda a, b: best.op(a * 1, b) + 1, fullgraph=True, **options)
    return all([torch.equal(function(p.A, p.B), p.right + 1) for _ in range(4)])


def try_graph(best, p):
    C, graph = torch.zeros_like(p.right), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = best.op(p.A, p.B)
        best.run(p.A, p.B, C)
    made.zero_()
    C.zero_()
    graph.replay()
    torch.cuda.synchronize()
    check("a CUDA graph", p.is_right(made) and p.is_right(C))


def try_streams(best, p):
    """Outputs on other streams, whose memory is freed at once and reused."""
    stream, right = torch.cuda.Stream(), True
    for _ in range(200):
        torch.cuda._sleep(20000)
        a, b = p.A.clone(), p.B.clone()
        stream.wait_stream(torch.cuda.current_stream())
        result = best.run(a, b, stream=stream)
        del a, b
        torch.empty_like(p.A).fill_(5), torch.empty_like(p.B).fill_(5)
        torch.cuda.current_stream().wait_stream(stream)
        right = right and p.is_right(result)
    check("record_stream keeps memory until another stream is done", right)
    with torch.cuda.stream(stream):
        call = best.prepare(p.A, p.B)
        check("the current stream is taken", p.is_right(call()))


def try_threads(best, p):
    wrong = []

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(100):
                result = best.run(p.A, p.B)
                torch.cuda.current_stream().synchronize()
                if not p.is_right(result):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("8 threads with a stream each", not wrong)


def refuses(name, error, part, function, *arrays):
    try:
        function(*arrays)
    except error as raised:
        check("refused: " + name, part in str(raised), str(raised)[:200])
    else:
        check("refused: " + name, False)


def try_mistakes(best, p):
    refuses("a tensor on the CPU", ValueError, "-1: not on a GPU", best.run, p.A.cpu(), p.B)
    refuses("columns first", ValueError, "strides", best.run, p.A.T.contiguous().T, p.B)
    refuses("another type", TypeError, "type", best.run, p.A.double(), p.B)
    refuses("another size", ValueError, "", best.run, p.A[:, :-1].contiguous(), p.B)
    flat = torch.zeros(p.A.numel() + 1, dtype=p.A.dtype, device="cuda")[1:].view(p.A.shape)
    refuses("an address between elements of 16 bytes", ValueError, "multiple of", best.run, flat, p.B)
    if torch.cuda.device_count() < 2:
        print("one GPU: arrays on another device are not tried")
        return
    refuses("arrays on two devices", ValueError, "devices are", best.run, p.A, p.B.to("cuda:1"))
    other = Product(best, "cuda:1")
    result = best.run(other.A, other.B)
    check("arrays on another device than the current one", torch.equal(result, other.right) and
          torch.cuda.current_device() == 0)


def capture_first(path):
    """The very first call, while a graph is captured."""
    best = load(path)
    p, graph = Product(best), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = best.run(p.A, p.B)
    graph.replay()
    torch.cuda.synchronize()
    sys.exit(not p.is_right(result))


def main():
    if sys.argv[1:2] == ["--capture-first"]:
        capture_first(sys.argv[2])
    if not torch or not torch.cuda.is_available():
        print("skipped: no torch with a GPU here")
        return
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    sweetspot = os.path.join(root, os.environ.get("BIN", "out/bin"), "sweetspot")  # BIN may be absolute
    job = sys.argv[1] if sys.argv[1:] else os.path.join(root, "configs", "bgemm_1024.cfg")
    with tempfile.TemporaryDirectory() as folder:
        store, path = os.path.join(folder, "s.db"), os.path.join(folder, "product_best.py")
        subprocess.run([sweetspot, "tune", job, "--store", store, "--time", os.environ.get("TIME", "30s"),
                        "--no-counters", "--no-checks", "-q"], check=True)
        subprocess.run([sweetspot, "header", job, "--store", store, "--python", "-o", path], check=True)
        print("%d KB" % (os.path.getsize(path) // 1000))
        status = subprocess.run([sys.executable, os.path.abspath(__file__), "--capture-first", path],
                                check=False).returncode
        check("loaded while a graph is captured", status == 0)
        best = load(path)
        print("torch %s, CuPy %s, %s" % (torch.__version__, cupy and cupy.__version__, torch.cuda.get_device_name()))
        p = Product(best)
        check("torch's operator is registered", best.op is not None)
        for part in (try_torch, try_graph, try_streams, try_threads, try_mistakes, measure):
            part(best, p)
    print("%d of %d hold" % (held, held + failed))
    sys.exit(failed > 0)


main()
