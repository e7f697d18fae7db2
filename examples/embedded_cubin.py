# Launches the measured binary of a tuned kernel from Python, with the driver API (ctypes), on PyTorch's stream and
# tensors, and compares it with torch.matmul. A few lines of C get the launch from the header.
# Needs a C compiler (CC) and PyTorch with CUDA. In the project's root:
#
#     sweetspot tune configs/sgemm_2048.cfg
#     sweetspot header configs/sgemm_2048.cfg
#     sweetspot header configs/sgemm_2048.cfg -o out/sgemm_2048.cubin
#     python3 examples/embedded_cubin.py out/include/sgemm_2048_best.h out/sgemm_2048.cubin
#
# Exit status: 0 correct, 1 incorrect or an error, 77 if something that it needs is missing.
import ctypes
import os
import subprocess
import sys
import tempfile

GLUE = """
#include "{header}"
const char *entry(void) {{ return SGEMM_2048_ENTRY; }}
int compute(void) {{ return SGEMM_2048_COMPUTE; }}
void shape(long long m, long long n, long long k, struct sgemm_2048_launch_shape *to)
{{
    *to = sgemm_2048_geometry(m, n, k);
}}
"""


class Shape(ctypes.Structure):
    """The header's struct sgemm_2048_launch_shape."""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("cluster", ctypes.c_uint * 3),
                ("shared_bytes", ctypes.c_uint), ("cooperative", ctypes.c_int), ("overlap", ctypes.c_int),
                ("used", ctypes.c_int)]


def missing(what):
    print(f"embedded_cubin.py: {what}", file=sys.stderr)
    sys.exit(77)


def glue(header):
    """The header's functions, compiled."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "glue.c"), os.path.join(folder, "glue.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(GLUE.format(header=os.path.abspath(header)))
        try:
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", source, "-o", library], check=True)
        except FileNotFoundError as error:
            missing(f"no C compiler: {error}")
        functions = ctypes.CDLL(library)
    functions.entry.restype = ctypes.c_char_p
    functions.shape.argtypes = [ctypes.c_longlong] * 3 + [ctypes.POINTER(Shape)]
    return functions


class Driver:
    """libcuda, each of whose functions returns 0 or raises."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            missing(f"no CUDA driver: {error}")

    def __getattr__(self, name):
        def call(*arguments):
            status = getattr(self.library, name)(*arguments)
            if status:
                raise RuntimeError(f"{name}: CUDA error {status}")
        return call


def load(driver, cubin, entry):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(cubin, "rb") as file:
        driver.cuModuleLoadData(ctypes.byref(module), file.read())
    driver.cuModuleGetFunction(ctypes.byref(function), module, entry)
    return function


def launch(driver, function, shape, stream, arguments):
    """arguments: ctypes values, in the order that the header's first comment lists."""
    if shape.cooperative or max(shape.cluster) > 1:
        raise NotImplementedError("cooperative launches and clusters need cuLaunchKernelEx")
    dynamic_shared_bytes = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuFuncSetAttribute(function, dynamic_shared_bytes, ctypes.c_int(shape.shared_bytes))
    places = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
    driver.cuLaunchKernel(function, *shape.grid, *shape.block, shape.shared_bytes, ctypes.c_void_p(stream), places,
                          None)


def main():
    if len(sys.argv) != 3:
        print("usage: embedded_cubin.py HEADER CUBIN", file=sys.stderr)
        sys.exit(2)
    functions = glue(sys.argv[1])
    try:
        import torch
    except ImportError as error:
        missing(f"PyTorch is not installed: {error}")
    if not torch.cuda.is_available():
        missing("PyTorch finds no CUDA device")
    major, minor = torch.cuda.get_device_capability()
    if 10 * major + minor != functions.compute():
        missing(f"the binary is for compute capability {functions.compute()}, this GPU has {10 * major + minor}")
    size = 2048
    A = torch.randint(-1, 2, (size, size), device="cuda", dtype=torch.float32)  # FP32 holds their product exactly
    B = torch.randint(-1, 2, (size, size), device="cuda", dtype=torch.float32)
    C = torch.full((size, size), float("nan"), device="cuda", dtype=torch.float32)
    shape = Shape()
    functions.shape(size, size, size, ctypes.byref(shape))
    driver = Driver()
    function = load(driver, sys.argv[2], functions.entry())
    integer, real, pointer = ctypes.c_int(size), ctypes.c_float, ctypes.c_void_p
    launch(driver, function, shape, torch.cuda.current_stream().cuda_stream,
           [integer, integer, integer, real(1), pointer(A.data_ptr()), integer, pointer(B.data_ptr()), integer, real(0),
            pointer(C.data_ptr()), integer])
    torch.cuda.synchronize()
    right = torch.equal(C, torch.matmul(A, B))
    print(f"{functions.entry().decode()} on {torch.cuda.get_device_name()}: {'right' if right else 'WRONG'}")
    sys.exit(0 if right else 1)


main()
