"""Arrays for tests of launching from Python without a GPU. Their memory does not exist (fake_libcuda.c)."""
import ctypes
import importlib.util
import sys

TYPES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<V2", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2",
         "i32": "<i4", "u32": "<u4", "i64": "<i8", "u64": "<u8", "e4m3": "|V1", "e5m2": "|V1"}
CODES = {"f": 2, "i": 0, "u": 1, "V": 4}


def at(number, device=0):
    """An address on a device."""
    return ((device + 1) << 40) + (number << 32)


class Interface:
    """An array with __cuda_array_interface__."""

    def __init__(self, address, shape, kind="f32", strides=None, read_only=False, stream=None, version=3):
        letters = TYPES.get(kind, kind)
        self.__cuda_array_interface__ = {
            "data": (address, read_only), "shape": shape, "typestr": letters, "version": version,
            "strides": strides and tuple(int(letters[2:]) * n for n in strides)}
        if stream is not None:
            self.__cuda_array_interface__["stream"] = stream


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("device", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Pack:
    """An array with DLPack. The capsules have no destructor; the array keeps what they point to."""

    def __init__(self, address, shape, kind="f32", strides=None, offset=0, device_kind=2, device=0):
        letters = TYPES[kind]
        self.device, self.streams, self.keep = (device_kind, device), [], (ctypes.c_int64 * len(shape))(*shape)
        steps = strides and (ctypes.c_int64 * len(shape))(*strides)
        self.tensor = _Tensor(address, device_kind, device, len(shape), CODES[letters[1]], 8 * int(letters[2:]), 1,
                              self.keep, steps, offset)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def load(path, name="best"):
    """Loads a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
