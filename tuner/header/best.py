"""The part of a Python file with a tuned kernel that is the same for all jobs (header_python.c). name_ stands for the
job's name. The data are sections (header_section.h), with expressions in Python, and the binaries. CUDA is not used
before the first call. A call goes through three levels: _Plan, for the arrays' layouts; _Ready, for their addresses and
the context; and the launches on a stream. Each level keeps the objects of the next level."""

import base64
import contextlib
import ctypes
import itertools
import json
import math
import operator
import re
import struct
import sys
import threading

try:
    import torch
except (ImportError, OSError):  # not installed, or one of its libraries is missing
    torch = None
_TENSOR = torch.Tensor if torch else ()

# By type: bytes, DLPack's code, the array interface's letters, torch's name, the letter for struct.pack.
_ELEMENTS = {
    "f32": (4, 2, "f4", "float32", "f"), "f64": (8, 2, "f8", "float64", "d"), "f16": (2, 2, "f2", "float16", "H"),
    "bf16": (2, 4, "V2", "bfloat16", "H"), "e4m3": (1, 10, "V1", "float8_e4m3fn", "B"),
    "e5m2": (1, 12, "V1", "float8_e5m2", "B"), "i8": (1, 0, "i1", "int8", "b"), "u8": (1, 1, "u1", "uint8", "B"),
    "i16": (2, 0, "i2", "int16", "h"), "u16": (2, 1, "u2", "uint16", "H"), "i32": (4, 0, "i4", "int32", "i"),
    "u32": (4, 1, "u4", "uint32", "I"), "i64": (8, 0, "i8", "int64", "q"), "u64": (8, 1, "u8", "uint64", "Q")}
_BITS = {"u16": ("bf16",), "u8": ("e4m3", "e5m2")}  # CuPy and Numba have no such types
_TYPES = {}  # from an array's own type
for _name, (_size, _code, _letters, _word, _) in _ELEMENTS.items():
    for _key in ((_code, 8 * _size, 1), "<" + _letters, "|" + _letters, getattr(torch, _word, _name)):
        _TYPES.setdefault(_key, []).extend((_name, *_BITS.get(_name, ())))


# The sections --------------------------------------------------------------------------------------------------------

def _div(a, b):
    """Like C's division; without a quotient, 0."""
    return (a // b if (a < 0) == (b < 0) else -(-a // b)) if b else 0


def _ceil_div(a, b):
    return -(-a // b) if b else 0


_FUNCTIONS = {"div": _div, "rem": lambda a, b: a - b * _div(a, b) if b else 0, "ceil_div": _ceil_div,
              "round_up": lambda a, b: _ceil_div(a, b) * b, "is_pow2": lambda a: a > 0 and a & (a - 1) == 0,
              "log2": lambda a: a.bit_length() - 1 if a > 1 else 0}
_codes = {}


def _value(text, at):
    """The value of an expression in an environment, {"size_M": 64}."""
    if text not in _codes:
        _codes[text] = compile(text, "<section>", "eval")
    return eval(_codes[text], _FUNCTIONS, at)


def _values(texts, at):
    return [int(_value(text, at)) for text in texts]


def _at(names, sizes):
    sizes = tuple(sizes)
    if len(sizes) != len(names):
        raise TypeError("pass the sizes %s" % ", ".join(names))
    return {"size_" + name: operator.index(size) for name, size in zip(names, sizes)}


def _strides(shape, row=None):
    """The strides in elements of a row-major array; `row`: from one row to the next."""
    strides = [1]
    for size in shape[:0:-1]:
        strides.insert(0, strides[0] * (row if row is not None and len(strides) == 1 else size))
    return tuple(strides[:len(shape)])


def _shape(buffer, at):
    """The shape and the strides of an array."""
    shape = tuple([_value(text, at) for text in buffer["shape"]])
    return shape, _strides(shape, _value(buffer["ld"], at) if "ld" in buffer else None)


def _loop(loops, at):
    """Yields the environment of each run. Without loops, there is one run."""
    if not loops:
        yield at
        return
    key = "loop_" + loops[0]["name"]
    at = {**at, key: _value(loops[0]["from"], at)}
    while _value(loops[0]["while"], at):
        yield from _loop(loops[1:], at)
        at = {**at, key: _value(loops[0]["next"], at)}


def _runs(stage, at):
    return itertools.takewhile(lambda run: _value(stage["when"], run), _loop(stage.get("repeat"), at))


def _launches(section, at):
    """Yields for each launch the stage's number, the environment, and the buffer that each name stands for."""
    def exchange(stage):
        for one, other in stage.get("swap", ()):
            stands[one], stands[other] = stands[other], stands[one]

    stages = section["stages"]
    stands = {buffer["name"]: buffer["name"] for buffer in section["buffers"]}
    for stage in reversed(stages):  # so that each name stands for its own buffer after the last run
        for _ in _runs(stage, at) if "swap" in stage else ():
            exchange(stage)
    for number, stage in enumerate(stages):
        for run in _runs(stage, at):
            yield number, run, dict(stands)
            exchange(stage)


def _supported(section, at, names):
    if "supported" not in section:
        return False
    limits = [(at["size_" + name], limit) for name, limit in zip(names, section["supported"])]
    return (all(limit["least"] <= size <= limit["most"] and size % (limit["multiple"] or 1) == 0
                for size, limit in limits) and all(_value(text, at) for text in section.get("conditions", ())))


def _relative_time(section, at):
    """The relative time according to the wave model, as in the C header."""
    work = max(float(_value(section["work"], at)), 1.0)
    stage = next((stage for stage in section["stages"] if stage["name"] == section.get("stage")), None)
    run = next(_runs(stage, at), None) if stage else None
    blocks = math.prod(_values(stage["grid"], run)) if run is not None else 0
    return work / blocks * math.ceil(blocks / section["at_once"]) if blocks >= 1 else work


def _distance(a, b):
    def power(size):
        return next(n for n in (8, 4, 2, 1) if size % n == 0)

    return math.prod(max(x, y) / min(x, y) * (1 if power(x) == power(y) else 2) for x, y in zip(a, b))


def _expected_time(section, sizes, names):
    """Estimates the time from the three nearest problems on which the kernel was timed."""
    here = _relative_time(section, _at(names, sizes))
    near = sorted(((_distance(sizes, one["sizes"]), one["time"] * (here / _relative_time(
        section, _at(names, one["sizes"])))) for one in section["times"]), key=lambda pair: pair[0])[:3]
    near = near[:1] if near and near[0][0] <= 1 else near
    return sum(time / far for far, time in near) / sum(1 / far for far, _ in near) if near else math.inf


# CUDA ----------------------------------------------------------------------------------------------------------------

class _Driver:
    """libcuda. A call of one of its functions returns 0 or raises an exception. Functions that every launch calls have
    no `argtypes`, because ctypes is faster with arguments that are already converted (_word)."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
            self.launch, self.fill = self.library.cuLaunchKernelEx, self.library.cuMemsetD8Async
            self.current, self.attribute = self.library.cuCtxGetCurrent, self.library.cuPointerGetAttribute
        except (OSError, AttributeError) as error:
            raise RuntimeError("a CUDA driver of version 12 or newer is needed: %s" % error) from error
        self.primary = {}
        self.call("cuInit", 0)

    def call(self, function, *arguments):
        self.check(function, getattr(self.library, function)(*arguments))

    def check(self, function, status):
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError("%s: %s" % (function, (text.value or b"CUDA error %d" % status).decode()))

    def number(self, function, *arguments):
        """Returns the number that a function writes into its first argument."""
        value = ctypes.c_int()
        self.call(function, ctypes.byref(value), *arguments)
        return value.value

    def handle(self, function, *arguments):
        value = ctypes.c_void_p()
        self.call(function, ctypes.byref(value), *arguments)
        return value.value

    def context(self):
        place, word, _ = _room.own
        self.current(place)
        return word.value

    def context_of(self, device):
        """Returns the current context if it belongs to the device, otherwise the device's primary context."""
        current = self.context()
        if current and self.number("cuCtxGetDevice") == device:
            return current
        if device not in self.primary:
            self.primary[device] = self.handle("cuDevicePrimaryCtxRetain", device)
        return self.primary[device]

    def describe(self, device):
        """Returns the device's name, compute capability and number of multiprocessors."""
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        major, minor, count = (self.number("cuDeviceGetAttribute", which, device) for which in (75, 76, 16))
        return name.value.decode(), 10 * major + minor, count

    @contextlib.contextmanager
    def inside(self, context):
        """Makes this context current; loading is allowed even while a graph is captured."""
        mode = ctypes.c_int(2)  # RELAXED
        self.call("cuCtxPushCurrent_v2", ctypes.c_void_p(context))
        self.call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            yield
        finally:
            self.call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class _Room(threading.local):
    """The memory into which the driver writes the answers to the queries that every launch makes."""

    def __init__(self):
        word = ctypes.c_void_p()
        self.own = ctypes.byref(word), word, ctypes.c_int.from_buffer(word)


_word = ctypes.c_uint64.from_param  # converts an argument of 64 bits
_room, _lock, _opened, _nothing = _Room(), threading.RLock(), [], contextlib.nullcontext()


def _driver():
    if not _opened:
        with _lock:
            if not _opened:
                _opened.append(_Driver())
    return _opened[0]


# Arrays and streams --------------------------------------------------------------------------------------------------

_from_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def _look(driver, arrays, stream, kept):
    """Returns the arrays' layouts (shape, strides, type, device, whether it is read-only) and addresses, whether an
    array is torch's, and the stream that the other arrays name. Objects that must live until the launch are added to
    `kept`."""
    attribute, (place, _, number) = driver.attribute, _room.own
    layouts, addresses, tensors, named = [], [], False, None
    for array in arrays:
        if isinstance(array, _TENSOR):
            layouts.append((array.shape, array.stride(), array.dtype, array.get_device(), False))
            addresses.append(array.data_ptr())
            tensors = True
            continue
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None or (interface["version"] < 3 and hasattr(array, "__dlpack__")):  # version 2 has no streams
            layout, address = _unpacked(array, stream, kept)
        else:
            address, read_only = interface["data"]
            device = -1 if attribute(place, 9, _word(address or 0)) else number.value  # DEVICE_ORDINAL; -1: on no GPU
            layout = interface["shape"], interface.get("strides"), interface["typestr"], device, read_only
            own = interface.get("stream")
            if own is not None and own != named:
                if named is not None and stream is None and not tensors:
                    raise ValueError("the arrays belong to different streams: pass stream=")
                named = own
            if interface.get("mask") is not None:
                raise TypeError("an array has a mask, which the kernel would ignore")
        layouts.append(layout)
        addresses.append(address)
    return layouts, addresses, tensors, named


def _unpacked(array, stream, kept):
    """The layout and the address of an array with DLPack."""
    if not hasattr(array, "__dlpack__"):
        raise TypeError("%r is not an array on a GPU: it has neither __cuda_array_interface__ nor DLPack" % (array,))
    kind, device = array.__dlpack_device__()
    if kind not in (2, 13):  # CUDA, managed
        return ((), (), None, -1, False), 0
    kept.append(array.__dlpack__(stream=stream or 1))
    tensor = ctypes.string_at(_from_capsule(kept[-1], b"dltensor"), 48)  # DLTensor
    address, rank, code, bits, lanes, shape, strides, offset = struct.unpack("<Q8xiBBHQQQ", tensor)
    shape = struct.unpack("<%dq" % rank, ctypes.string_at(shape, 8 * rank))
    strides = struct.unpack("<%dq" % rank, ctypes.string_at(strides, 8 * rank)) if strides else _strides(shape)
    return (shape, strides, (code, bits, lanes), device, False), address + offset


def _torch_stream(device):
    return torch.cuda.current_stream(device).cuda_stream


if hasattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream"):  # ten times as fast
    _torch_stream = torch._C._cuda_getCurrentRawStream


def _stream_handle(stream):
    """The handle of a stream, which is an object of torch, CuPy, Numba or cuda.core, or a number."""
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr", "handle"):
        stream = getattr(stream, name, stream)
    return int(getattr(stream, "value", stream) or 0)


def _torch_external(handle, device):
    return torch.cuda.ExternalStream(handle, device=device) if handle else torch.cuda.default_stream(device)


def _record(arrays, handle, device):
    """Tells torch's allocator that the arrays are used on this stream."""
    for array in arrays:
        if isinstance(array, _TENSOR):
            array.record_stream(_torch_external(handle, device))


def _torch_type(name):
    word = _ELEMENTS[name][3]
    return getattr(torch, word, None) or getattr(torch, word.lstrip("u"))  # signed, if torch is too old


def _empty(like, buffer, shape, strides):
    """A new array of the same library as `like`."""
    if isinstance(like, _TENSOR):
        return torch.empty_strided(shape, strides, dtype=_torch_type(buffer["type"]), device=like.device)
    if type(like).__module__.partition(".")[0] == "cupy" and strides == _strides(shape):
        return sys.modules["cupy"].empty(shape, dtype=_ELEMENTS[buffer["type"]][2].replace("V", "u"))
    raise TypeError("the array %s must be given: %s, %s" % (buffer["name"], buffer["type"], shape))


def _allocating(like, handle, device):
    """New arrays belong to the stream on which they are used."""
    if isinstance(like, _TENSOR):
        return torch.cuda.stream(_torch_external(handle, device))
    return sys.modules["cupy"].cuda.ExternalStream(handle) if "cupy" in sys.modules else _nothing


# From arrays to launches ---------------------------------------------------------------------------------------------

class _Plan:
    """The launches for arrays with these layouts, whatever their addresses."""

    def __init__(self, names, layouts, sizes):
        driver = _driver()
        self.ready, self.made, self.zeros = {}, [], []
        given = dict(zip(names, layouts))
        devices = {layout[3] for layout in layouts}
        if len(devices) > 1 or -1 in devices:
            raise ValueError("the arrays must be in the memory of one GPU; their devices are %s (-1: not on a GPU)" %
                             ", ".join("%s: %d" % (name, layout[3]) for name, layout in given.items()))
        at = _sizes_from({name: layout[0] for name, layout in given.items()}, sizes)
        self.device = devices.pop()
        self.section = section = _section_for(driver.describe(self.device), at)
        self.shown = ", ".join("%s=%s" % (name, at["size_" + name]) for name in SIZES)
        if not _supported(section, at, SIZES):
            raise ValueError("sizes that have not been verified: %s" % self.shown)
        self.blob, self.places, self.pointers, self.maps, self.steps = bytearray(), [], [], [], []
        try:
            self.add_launches(at)
        except struct.error as error:
            raise ValueError("the numbers of a launch are too large for %s: %s" % (self.shown, error)) from error
        if not self.steps:
            raise ValueError("no kernel is for these sizes: %s" % self.shown)
        used = {entry[1] for entry in self.pointers + self.maps}
        for buffer in section["buffers"]:
            name, size = buffer["name"], int(_value(buffer["bytes"], at))
            if buffer.get("zero") and name in used:
                self.zeros.append((name, size))
            if name in given:
                self.check(buffer, *_shape(buffer, at), size, *given[name])
            elif name in used or buffer["direction"] == "out":
                self.made.append((buffer, *_shape(buffer, at)))
        self.names = [*names, *[made[0]["name"] for made in self.made]]
        outputs = [self.names.index(name) for name in ARRAYS if name not in INPUTS]
        self.results = operator.itemgetter(*outputs) if outputs else lambda arrays: None

    def check(self, buffer, shape, strides, size, own_shape, own_strides, kind, _device, read_only):
        """Raises an exception unless the array is like those with which the kernel was verified."""
        name, types = buffer["name"], _TYPES.get(kind, ())
        bytes_each = _ELEMENTS[types[0]][0] if types else 1
        if own_strides is None or isinstance(kind, str):
            own_strides = tuple([s / bytes_each for s in own_strides]) if own_strides else _strides(own_shape)
        if buffer["direction"] == "scratch":
            shape, strides = tuple(own_shape), _strides(own_shape)
            if not types or math.prod(shape) * bytes_each < size:
                raise ValueError("%s must have at least %d bytes for %s" % (name, size, self.shown))
        elif buffer["type"] not in types:
            raise TypeError("%s must have elements of the type %s, not %s" % (name, buffer["type"], kind))
        if tuple(own_shape) != shape:
            raise ValueError("%s must have the shape %s, not %s, for %s" % (name, shape, tuple(own_shape), self.shown))
        if any(n > 1 and a != b for n, a, b in zip(shape, own_strides, strides)):
            raise ValueError("%s must have the strides %s, in elements, not %s" % (name, strides, own_strides))
        if read_only and buffer["direction"] != "in":
            raise ValueError("%s is written, but the array is read-only" % name)

    def add_value(self, data, alignment):
        self.blob += bytes(-len(self.blob) % alignment)
        self.places.append(len(self.blob))
        self.blob += data

    @staticmethod
    def number(argument, at):
        """A scalar's bytes."""
        letter = _ELEMENTS[argument["type"]][4]
        value = argument.get("bits", argument.get("real"))
        value = _value(argument["value"], at) if value is None else value
        return struct.pack("<" + letter, float(value) if letter in "fd" else int(value))

    def add_argument(self, argument, place, stage, at, stands):
        if argument["kind"] == "scalar":
            data = self.number(argument, at)
            self.add_value(data, len(data))
        elif argument["kind"] == "struct":
            data = bytearray(argument["bytes"])
            for member in argument["members"]:
                part = self.number(member, at)
                data[member["offset"]:member["offset"] + len(part)] = part
            self.add_value(data, 16)
            self.pointers += [
                (self.places[-1] + member["offset"], stands[member["buffer"]], _value(member["value"], at))
                for member in argument["members"] if "buffer" in member]
        elif argument["kind"] == "buffer":
            self.add_value(bytes(8), 8)
            self.pointers.append((self.places[-1], stands[argument["name"]], 0))
        else:
            described = next(one for one in stage["tensor_maps"] if one["argument"] == place)
            self.add_value(bytes(128), 128)
            self.maps.append((self.places[-1], stands[argument["name"]], *self.tensor_map(described, at)))

    @staticmethod
    def tensor_map(described, at):
        """The arguments of cuTensorMapEncodeTiled before and after the address."""
        numbers = {"i8": 0, "u8": 0, "i16": 1, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7,
                   "f64": 8, "bf16": 9, "tf32": 11}
        rank = len(described["box"])
        size, stride, box = (_values(described[key], at) for key in ("sizes", "strides", "box"))
        if any(not 1 <= n <= 2 ** 32 for n in size) or any(n % 16 for n in stride):
            raise ValueError("TMA cannot read %s: sizes %s, rows of %s bytes, which must be multiples of 16" %
                             (described["buffer"], size, stride))
        swizzle, promotion = (int(_value(described[key], at)) // unit for key, unit in (
            ("swizzle", 32), ("promotion", 64)))
        return ([ctypes.c_int(numbers.get(described["type"], 0)), ctypes.c_uint(rank)],
                [(ctypes.c_uint64 * 5)(*size), (ctypes.c_uint64 * 5)(*stride), (ctypes.c_uint * 5)(*box),
                 (ctypes.c_uint * 5)(1, 1, 1, 1, 1), 0, swizzle.bit_length(), promotion.bit_length(),
                 int(described["nan"])])

    def add_launches(self, at):
        for number, run, stands in _launches(self.section, at):
            stage = self.section["stages"][number]
            grid, block, cluster = (_values(stage[key], run) for key in ("grid", "block", "cluster"))
            if min(grid) < 1 or grid[0] > 2147483647 or max(grid[1:]) > 65535:
                raise ValueError("a grid of %s blocks cannot be launched" % grid)
            attributes = struct.pack("<I4x3I52x", 4, *cluster) if math.prod(cluster) > 1 else b""
            attributes += struct.pack("<I4xi60x", 2, 1) if stage["cooperative"] else b""
            attributes += struct.pack("<I4xi60x", 6, 1) if self.steps and _value(stage["overlap"], run) else b""
            shape = struct.pack("<7I4x", *grid, *block, int(_value(stage["shared"], run)))
            room = ctypes.create_string_buffer(attributes, 216)
            self.steps.append((number, shape, room, len(attributes) // 72, len(self.places)))
            for place, argument in enumerate(stage["arguments"]):
                self.add_argument(argument, place, stage, run, stands)


class _Ready:
    """The launches of a plan for arrays at these addresses, in the current context. Several threads may use it."""

    def __init__(self, plan, context, addresses):
        driver = self.driver = _driver()
        self.plan, self.context, self.streams = plan, context, {}
        alignment = plan.section["alignment"]
        for name, address in addresses.items():
            if address % alignment or not address:
                raise ValueError("%s must be at a multiple of %d, not at %#x" % (name, alignment, address))
        self.memory = ctypes.create_string_buffer(len(plan.blob) + 128)
        base = -(-ctypes.addressof(self.memory) // 128) * 128
        ctypes.memmove(base, bytes(plan.blob), len(plan.blob))
        self.places = (ctypes.c_void_p * (len(plan.places) + 1))(*[base + place for place in plan.places])
        for place, name, offset in plan.pointers:
            ctypes.memmove(base + place, struct.pack("<Q", addresses[name] + offset), 8)
        for place, name, before, after in plan.maps:
            driver.call("cuTensorMapEncodeTiled", ctypes.c_void_p(base + place), *before,
                        ctypes.c_void_p(addresses[name]), *after)
        self.zeros = [(addresses[name], size) for name, size in plan.zeros]
        self.kernels = _load(driver, context, plan.device, plan.section)

    def on(self, stream):
        """Functions and their arguments. The structs are never changed, because another thread may use them."""
        configs = ctypes.create_string_buffer(56 * len(self.plan.steps))
        calls = [(self.driver.fill, (_word(address), 0, _word(size), _word(stream))) for address, size in self.zeros]
        for i, (number, shape, attributes, count, place) in enumerate(self.plan.steps):
            at = ctypes.addressof(configs) + 56 * i
            ctypes.memmove(at, shape + struct.pack("<QQI4x", stream, ctypes.addressof(attributes), count), 56)
            arguments = ctypes.addressof(self.places) + 8 * place
            calls.append((self.driver.launch, (*map(_word, (at, self.kernels[number], arguments)), None)))
        if len(self.streams) >= 64:
            self.streams.clear()
        self.streams[stream] = calls, configs
        return calls, configs

    def launch(self, stream, current):
        if current != self.context:
            self.driver.call("cuCtxPushCurrent_v2", ctypes.c_void_p(self.context))
            try:
                return self.launch(stream, self.context)
            finally:
                self.driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        calls, _configs = self.streams.get(stream) or self.on(stream)
        for function, arguments in calls:
            status = function(*arguments)
            if status:
                self.driver.check(function.__name__, status)


def _load(driver, context, device, section):
    """Loads the stages' kernels. The driver keeps one library for all contexts, of which each context has a copy."""
    index = _sections.index(section)
    if (context, index) not in _kernels:
        toolkit = re.search(r"\d+", section["compiler"])
        if toolkit and driver.number("cuDriverGetVersion") // 1000 < int(toolkit.group()):
            raise RuntimeError("the driver is older than the binary's toolkit: %s" % section["compiler"])
        _kernels[context, index] = [_kernel(driver, device, section["binary"], stage) if "symbol" in stage else None
                                    for stage in section["stages"]]
    return _kernels[context, index]


def _kernel(driver, device, binary, stage):
    key = binary["hash"], stage.get("unit", 0)
    if key not in _libraries:
        image = base64.b64decode(_binaries[key[0]])[binary.get("units", [0])[key[1]]:]
        _libraries[key] = driver.handle("cuLibraryLoadData", image, None, None, 0, None, None, 0)
    kernel = driver.handle("cuLibraryGetKernel", ctypes.c_void_p(_libraries[key]), stage["symbol"].encode())
    fixed, shared = max(stage.get("shared_static", 0), 0), stage["shared"]
    most = int(shared) if shared.isdigit() else driver.number("cuDeviceGetAttribute", 97, device) - fixed
    if most + fixed > 49152:  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        driver.call("cuKernelSetAttribute", 8, most, ctypes.c_void_p(kernel), device)
    if not all(n.isdigit() for n in stage["cluster"]) or math.prod(map(int, stage["cluster"])) > 8:
        driver.call("cuKernelSetAttribute", 14, 1, ctypes.c_void_p(kernel), device)  # NON_PORTABLE_CLUSTER_SIZE
    driver.handle("cuKernelGetFunction", ctypes.c_void_p(kernel))  # loads it now, not at the first launch
    return kernel


def _sizes_from(shapes, given):
    """The environment, made from the sizes in `given` and from the dimensions of shapes that are sizes themselves."""
    at = {"size_" + name: size for name, size in given or ()}
    if not {name for name, _ in given or ()} <= set(SIZES):
        raise TypeError("sizes has %s; the names are: %s" % (", ".join(name for name, _ in given), ", ".join(SIZES)))
    for buffer in _buffers:
        for text, size in zip(buffer["shape"], shapes.get(buffer["name"], ())):
            if text.startswith("size_") and text[5:] in SIZES:
                at.setdefault(text, size)
    missing = [name for name in SIZES if "size_" + name not in at]
    if missing:
        raise TypeError("the shapes of the arrays do not tell %s: pass sizes={...}" % ", ".join(missing))
    return at


def _section_for(device, at):
    """The section for a device (_Driver.describe) and sizes, chosen like name_load and name_select in the C header."""
    def fits(section):
        near = re.sub(r"\D", "", section["arch"]) == str(device[1]) and section["sm_count"] <= device[2]
        return section["device"] == device[0], near, section["sm_count"]

    first = max((one for one in _sections if not one.get("kernel")), key=fits)
    if not any(fits(first)[:2]):
        raise RuntimeError("no binary for this device, %s of compute capability %d; the file is for %s" % (
            *device[:2], ", ".join(section["device"] for section in _sections)))
    start, sizes = _sections.index(first), [at["size_" + name] for name in SIZES]
    able = [one for one in _sections[start:start + first.get("kernels", 1)]
            if min(sizes, default=1) >= 1 and any(next(_runs(stage, at), None) is not None for stage in one["stages"])]
    return min(able, key=lambda one: _expected_time(one, sizes, SIZES)) if "kernels" in first and able else first


def _new_plan(key, count, scratch, sizes, layouts):
    if count not in (len(ARRAYS), len(INPUTS)) or not count:
        raise TypeError("%d arrays are given: pass %s, or without the outputs %s" % (
            count, ", ".join(ARRAYS), ", ".join(INPUTS)))
    if not set(scratch or ()) <= set(SCRATCH):
        raise TypeError("scratch has %s; the names are: %s" % (", ".join(scratch), ", ".join(SCRATCH)))
    with _lock:
        if len(_plans) >= 1024:
            _plans.clear()
        names = (ARRAYS if count == len(ARRAYS) else INPUTS) + tuple(scratch or ())
        _plans[key] = _Plan(names, layouts, sizes)
        return _plans[key]


def _new_ready(plan, context, *addresses):
    with _lock:
        if len(plan.ready) >= 1024:
            plan.ready.clear()
        owner = _driver().context_of(plan.device)
        loaded = owner == context and (owner, _sections.index(plan.section)) in _kernels
        with _nothing if loaded else _driver().inside(owner):
            ready = plan.ready[(context, *addresses)] = _Ready(plan, owner, dict(zip(plan.names, addresses)))
        return ready


def _prepare(arrays, sizes, stream, scratch):
    """Returns the launches, the context, the stream, all arrays, and other objects that must live until the launch."""
    kept, count = [], len(arrays)
    if scratch:
        arrays = (*arrays, *scratch.values())
    if sizes is not None:
        sizes = sizes if isinstance(sizes, dict) else dict(zip(SIZES, _at(SIZES, sizes).values()))
        sizes = tuple([(name, operator.index(size)) for name, size in sizes.items()])
    handle = None if stream is None else _stream_handle(stream)
    driver = _driver()
    layouts, addresses, tensors, named = _look(driver, arrays, handle, kept)
    key = sizes, tuple(scratch or ()), *layouts
    plan = _plans.get(key) or _new_plan(key, count, scratch, sizes, layouts)
    if handle is None:
        handle = _torch_stream(plan.device) if tensors else named or 0
    if plan.made:
        with _nothing if stream is None else _allocating(arrays[0], handle, plan.device):
            made = [_empty(arrays[0], *one) for one in plan.made]
        addresses += _look(driver, made, handle, kept)[1]
        arrays = (*arrays, *made)
    context = driver.context()
    key = context, *addresses
    return plan.ready.get(key) or _new_ready(plan, *key), context, handle, arrays, kept


# What programs call --------------------------------------------------------------------------------------------------

def run(*arrays, sizes=None, stream=None, scratch=None):
    """Launches on the caller's current stream, or on `stream`, and returns the outputs: run(*ARRAYS), or run(*INPUTS)
    with arrays of torch or CuPy, which then makes the outputs. sizes: {"M": 64}, the sizes that the shapes do not tell.
    scratch: {name: array}, the scratch arrays that `run` should not make. The current stream is torch's for torch's
    tensors, otherwise the one that __cuda_array_interface__ names, otherwise the default stream."""
    ready, current, handle, arrays, _kept = _prepare(arrays, sizes, stream, scratch)
    ready.launch(handle, current)
    if stream is not None and isinstance(arrays[0], _TENSOR) and handle != _torch_stream(ready.plan.device):
        _record(arrays, handle, ready.plan.device)
    return ready.plan.results(arrays)


def prepare(*arrays, sizes=None, stream=None, scratch=None):
    """Checks the arrays once and keeps them. Calling the result launches like `run` and returns the outputs. It uses
    `stream` or, without one, the stream that is the caller's current stream at the time of the call."""
    return _Prepared(*_prepare(arrays, sizes, stream, scratch), stream is not None)


class _Prepared:
    def __init__(self, ready, _current, home, arrays, kept, fixed):
        self.ready, self.home, self.arrays, self.kept, self.fixed = ready, home, arrays, kept, fixed
        self.outputs, self.device = ready.plan.results(arrays), ready.plan.device
        self.torch = any(isinstance(one, _TENSOR) for one in arrays)
        self.own = _torch_stream(self.device) if self.torch else None  # the stream known to torch's allocator
        self.source = None if self.torch else next((one for one in arrays if getattr(
            one, "__cuda_array_interface__", {}).get("stream") is not None), None)

    def __call__(self, stream=None):
        if stream is not None:
            handle = _stream_handle(stream)
        elif self.fixed:
            handle = self.home
        elif self.torch:
            handle = _torch_stream(self.device)
        else:
            handle = self.home if self.source is None else self.source.__cuda_array_interface__.get("stream") or 0
        self.ready.launch(handle, self.ready.driver.context())
        if handle != self.own and self.torch:
            _record(self.arrays, handle, self.device)
        return self.outputs


def supports(*sizes):
    """Whether these sizes count as verified on the current device or, without one, on the file's first device."""
    at = _at(SIZES, sizes)
    try:
        device = _driver().describe(_driver().number("cuCtxGetDevice"))
    except RuntimeError:
        device = _sections[0]["device"], 0, 0
    return _supported(_section_for(device, at), at, SIZES)


def shapes(*sizes):
    """Returns {name: (shape, strides, type, direction)} for all arrays, including scratch."""
    return {one["name"]: (*_shape(one, _at(SIZES, sizes)), one["type"], one["direction"]) for one in _buffers}


def _register():
    """The operator torch.ops.sweetspot.name_best. It takes the inputs, then the sizes that their shapes do not tell."""
    if torch is None or not hasattr(torch.library, "register_fake") or not INPUTS:
        return None, None
    inputs = [one for one in _buffers if one["name"] in INPUTS]
    outputs = [one for one in _buffers if one["direction"] == "out"]
    told = {text for one in inputs for text in one["shape"]}
    free = [name for name in SIZES if "size_" + name not in told]
    written = ["Tensor(%s!)" % chr(97 + i) if one["direction"] == "inout" else "Tensor" for i, one in enumerate(inputs)]
    words = ["%s %s" % (kind, re.sub(r"\W", "_", one["name"])) for kind, one in zip(written, inputs)]
    words += ["SymInt size_%s" % name for name in free]
    made = "Tensor" if len(outputs) == 1 else "(%s)" % ", ".join(["Tensor"] * len(outputs))

    def split(values):
        return values[:len(inputs)], tuple(zip(free, values[len(inputs):]))

    def launch(*values):
        tensors, sizes = split(values)
        return run(*tensors, sizes=dict(sizes))

    def fake(*values):
        tensors, sizes = split(values)
        at = _sizes_from({one["name"]: tensor.shape for one, tensor in zip(inputs, tensors)}, sizes)
        made = tuple([tensors[0].new_empty_strided(*_shape(one, at), dtype=_torch_type(one["type"]))
                      for one in outputs])
        return made[0] if len(made) == 1 else made or None

    library = torch.library.Library("sweetspot", "FRAGMENT")
    exact = "needs_exact_strides" if hasattr(torch.Tag, "needs_exact_strides") else "needs_fixed_stride_order"
    tags = [getattr(torch.Tag, tag) for tag in ("pt2_compliant_tag", exact)]
    library.define("name_best(%s) -> %s" % (", ".join(words), made), tags=tags)
    library.impl("name_best", launch, "CUDA")
    torch.library.register_fake("sweetspot::name_best", fake, lib=library)
    return library, torch.ops.sweetspot.name_best.default


_plans, _libraries, _kernels = {}, {}, {}
_binaries = dict(re.findall(r"/\* sweetspot-binary (\w+) \d+ \*/\n((?:[\w+/=]+\n)*)", r'''
@BINARIES@
'''))
_sections = [json.loads(text) for text in re.findall(r"^/\* sweetspot-section (.*) \*/$", r'''
@SECTIONS@
''', re.M)]
_buffers, SIZES = _sections[0]["buffers"], tuple(_sections[0]["sizes"])
ARRAYS = tuple(one["name"] for one in _buffers if one["direction"] != "scratch")
INPUTS = tuple(one["name"] for one in _buffers if one["direction"] in ("in", "inout"))
SCRATCH = tuple(one["name"] for one in _buffers if one["direction"] == "scratch")
_library, op = _register()
