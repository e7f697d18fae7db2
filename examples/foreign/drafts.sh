#!/bin/bash
# Drafts a job for each of 30 kernels from other projects and counts the lines with blanks to fill in:
#
#     examples/foreign/drafts.sh CLONES
#
# CLONES is a folder that has a clone of each project under its name (see fetch.sh); SWEETSPOT: the program, if it is
# not the one on the path. README.md lists the commits.
set -eu
here=$(cd "$(dirname "$0")" && pwd) clones=${1:?the folder of the clones} program=${SWEETSPOT:-sweetspot}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r project file kernel; do
    commit=$(sed -n "s/^| \`$project\` | [^|]* | \`\([0-9a-f]*\)\` |.*/\1/p" "$here/README.md")
    folder=$work/$project/$(dirname "$file")
    mkdir -p "$folder"
    # Also the headers next to it.
    git -C "$clones/$project" ls-tree --name-only "$commit" "$(dirname "$file")/" | grep -E '\.(cuh?|h|hpp)$' |
        while read -r path; do git -C "$clones/$project" show "$commit:$path" >"$work/$project/$path"; done
    job=$folder/$kernel.cfg
    "$program" init "$work/$project/$file" --kernel "$kernel" --output "$job" 2>"$work/log" || cat "$work/log" >&2
    "$program" check "$job" >/dev/null 2>&1 && verdict=accepted || verdict=refused
    echo "$(grep -c '"? ' "$job") $verdict $project $file $kernel"
done <<'LIST' | sort -n | tee "$work/list"
cuda-samples Samples/0_Introduction/vectorAdd/vectorAdd.cu vectorAdd
cuda-samples Samples/0_Introduction/matrixMul/matrixMul.cu MatrixMulCUDA
cuda-samples Samples/2_Concepts_and_Techniques/convolutionSeparable/convolutionSeparable.cu convolutionRowsKernel
cuda-samples Samples/2_Concepts_and_Techniques/histogram/histogram256.cu histogram256Kernel
cuda-samples Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu reduce6
cuda-samples Samples/2_Concepts_and_Techniques/scalarProd/scalarProd_kernel.cuh scalarProdGPU
cuda-samples Samples/2_Concepts_and_Techniques/scan/scan.cu scanExclusiveShared
cuda-samples Samples/2_Concepts_and_Techniques/sortingNetworks/bitonicSort.cu bitonicSortShared
cuda-samples Samples/2_Concepts_and_Techniques/dct8x8/dct8x8_kernel2.cuh CUDAkernel2DCT
cuda-samples Samples/2_Concepts_and_Techniques/shfl_scan/shfl_scan.cu shfl_scan_test
cuda-samples Samples/3_CUDA_Features/bf16TensorCoreGemm/bf16TensorCoreGemm.cu simple_wmma_bf16gemm
cuda-samples Samples/3_CUDA_Features/globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu MatrixMulNaive
cuda-samples Samples/3_CUDA_Features/cudaCompressibleMemory/saxpy.cu saxpy
cuda-samples Samples/5_Domain_Specific/BlackScholes/BlackScholes_kernel.cuh BlackScholesGPU
cuda-samples Samples/5_Domain_Specific/FDTD3d/inc/FDTD3dGPUKernel.cuh FiniteDifferencesKernel
cuda-samples Samples/5_Domain_Specific/Mandelbrot/Mandelbrot_cuda.cu Mandelbrot0
cuda-samples Samples/5_Domain_Specific/fastWalshTransform/fastWalshTransform_kernel.cuh fwtBatch1Kernel
cuda-samples Samples/5_Domain_Specific/quasirandomGenerator/quasirandomGenerator_kernel.cu quasirandomGeneratorKernel
cuda-samples Samples/5_Domain_Specific/SobolQRNG/sobol_gpu.cu sobolGPU_kernel
cuda-samples Samples/5_Domain_Specific/binomialOptions/binomialOptions_kernel.cu binomialOptionsKernel
llm.c dev/cuda/gelu_forward.cu gelu_forward_kernel2
llm.c dev/cuda/layernorm_forward.cu layernorm_forward_kernel3
llm.c dev/cuda/softmax_forward.cu softmax_forward_kernel4
llm.c dev/cuda/adamw.cu adamw_kernel2
llm.c dev/cuda/residual_forward.cu residual_forward_kernel2
llm.c dev/cuda/matmul_forward.cu matmul_forward_kernel1
kernel_tuner examples/cuda/matmul.cu matmul_kernel
kernel_tuner examples/cuda/convolution.cu convolution_kernel
KTT Examples/CoulombSum3d/CoulombSum3d.cu directCoulombSum
SGEMM_CUDA src/kernels/5_kernel_2D_blocktiling.cuh sgemm2DBlocktiling
LIST
awk '{ n[NR] = $1; accepted += $2 == "accepted" } END { print NR " drafts, " accepted + 0 " accepted by check;",
    "lines with blanks: " n[1] " to " n[NR] ", median " (n[int((NR + 1) / 2)] + n[int(NR / 2) + 1]) / 2 }' "$work/list"
