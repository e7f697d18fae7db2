#!/usr/bin/env bash
# Compiles a matrix product and a softmax with Triton and has `sweetspot judge` check the cubins, then the product's PTX
# with one instruction changed. Needs python3 with torch and triton, and a GPU.
#
# Usage: tests/measure/judge_triton.sh [FOLDER]        where the binaries and jobs are written (out/triton)
set -eu
cd "$(dirname "$0")/../.."
folder=${1:-out/triton} sweetspot=$PWD/${BIN:-out/bin}/sweetspot
mkdir -p "$folder"
cd "$folder"
cat >kernels.py <<'END'
import json, triton, triton.language as tl
from triton.compiler import ASTSource

@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        depth = k + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * K + depth[None, :], mask=(rows[:, None] < M) & (depth[None, :] < K), other=0.0)
        y = tl.load(b + depth[:, None] * N + cols[None, :], mask=(depth[:, None] < K) & (cols[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * N + cols[None, :], sums.to(tl.bfloat16), mask=inside)

@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0).to(tl.int64) * cols
    value = tl.load(x + row + at, mask=at < cols, other=-float('inf'))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row + at, value / tl.sum(value, axis=0), mask=at < cols)

def write(kernel, signature, constants, options):
    types = {**signature, **{name: 'constexpr' for name in constants}}
    made = triton.compile(ASTSource(fn=kernel, signature=types, constexprs=constants), options=options)
    name = made.metadata.name
    open(name + '.cubin', 'wb').write(made.asm['cubin'])
    open(name + '.ptx', 'w').write(made.asm['ptx'])
    json.dump({**made.metadata._asdict(), 'triton_version': triton.__version__}, open(name + '.json', 'w'), default=str)

write(product, {'a': '*bf16', 'b': '*bf16', 'c': '*bf16', 'M': 'i32', 'N': 'i32', 'K': 'i32'},
      {'BM': 128, 'BN': 128, 'BK': 64}, {'num_warps': 8, 'num_stages': 3})
write(softmax, {'x': '*fp32', 'y': '*fp32', 'cols': 'i32'}, {'BLOCK': 4096}, {'num_warps': 8})
END
python3 kernels.py
# The jobs define the correct results and the order of the arguments. Block and shared memory come from the metadata.
cat >own.cu <<'END'
#include <cuda_bf16.h>
extern "C" __global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int M, int N,
                                   int K)
{
}
extern "C" __global__ void softmax(const float *x, float *y, int cols)
{
}
END
cat >product.cfg <<'END'
name = "triton_product"; kernel = { template = "own.cu"; entry = "product"; };
problems = ( { M = 4096; N = 4096; K = 4096; } );
launch = { grid = [ "ceil_div(M, 128)", "ceil_div(N, 128)" ]; block = [ 256 ]; };
arguments = ( { buffer = "A"; type = "bf16"; shape = [ "M", "K" ]; },
              { buffer = "B"; type = "bf16"; shape = [ "K", "N" ]; },
              { buffer = "C"; type = "bf16"; shape = [ "M", "N" ]; direction = "out"; },
              { scalar = "M"; type = "i32"; }, { scalar = "N"; type = "i32"; }, { scalar = "K"; type = "i32"; } );
reference = { operation = "gemm"; };
verification = { problems = ( { M = 391; N = 520; K = 712; } ); };
END
cat >softmax.cfg <<'END'
name = "triton_softmax"; kernel = { template = "own.cu"; entry = "softmax"; };
problems = ( { ROWS = 32768; COLS = 4096; } );
launch = { grid = [ "ROWS" ]; block = [ 256 ]; };
arguments = ( { buffer = "x"; type = "f32"; shape = [ "ROWS", "COLS" ]; },
              { buffer = "y"; type = "f32"; shape = [ "ROWS", "COLS" ]; direction = "out"; },
              { scalar = "COLS"; type = "i32"; } );
reference = { operation = "softmax"; rows = "ROWS"; cols = "COLS"; };
verification = { problems = ( { ROWS = 333; COLS = 1030; } ); };
END
cp product.json changed.json
sed '0,/shr\.u32/s//shl.b32/' product.ptx >changed.ptx
cmp -s product.ptx changed.ptx && { echo "no instruction of the PTX was changed" >&2; exit 1; }
for pair in product:product.cubin product:product.ptx softmax:softmax.cubin product:changed.ptx; do
    echo "== ${pair#*:}"
    "$sweetspot" judge "${pair%:*}.cfg" --implementation "${pair#*:}" || true
done
