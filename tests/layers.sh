#!/bin/sh
# The layers, checked by includes: which folder may include what, and that each foreign library has one module.
status=0
complain() { echo "layers: $1" >&2; status=1; }
# refuse FOLDER PATTERN WHY
refuse() {
    found=$(grep -rnE "^[ \t]*#[ \t]*include[ \t]*[<\"]($2)" "$1" --include='*.[ch]' --include='*.cu') && complain "$3:
$found"
}
# only LIBRARY-PATTERN FILES... : the header is included by these files alone
only() {
    pattern=$1
    shift
    found=$(grep -rlE "^[ \t]*#[ \t]*include[ \t]*<($pattern)" search kernels tuner --include='*.[ch]')
    for file in $found; do
        case " $* " in *" $file "*) ;; *) complain "<$pattern> is included by $file; only by: $*" ;; esac
    done
}
refuse search 'cuda|nvrtc|cupti|cublas|nvml|sqlite3|libconfig|jansson|mpi|time\.h|unistd|fcntl|kernels/|tuner/(cli|compile|gpu|job|output|run|store|replay)/' 'search/ must stay pure'
refuse kernels 'cuda|nvrtc|cupti|cublas|sqlite3|libconfig|jansson|search/|tuner/(cli|compile|gpu|job|output|run|store|replay)/' 'kernels/ knows values and functions handed to it'
refuse tuner/base 'search/|kernels/|tuner/(cli|compile|gpu|job|output|run|store|replay)/' 'tuner/base is the lowest layer'
refuse tuner/gpu 'search/|tuner/(cli|compile|job|output|run|store|replay)/' 'the GPU worker knows no jobs and no stores'
refuse tuner/compile 'search/|kernels/|tuner/(cli|gpu|job|output|run|store|replay)/' 'the compiler knows no jobs'
refuse tuner/store 'tuner/(cli|gpu|job|output|run)/' 'the store knows no jobs'
refuse tuner/run 'tuner/(cli|gpu|output)/' 'the run knows no commands and no CUDA'
grep -rnE '\bFILE \*|\bfopen\b|\bprintf\(' search --include='*.[ch]' | grep -v snprintf && complain 'search/ does no input and output'
only 'libconfig\.h' tuner/job/reader.c
only 'jansson\.h' tuner/base/json.h
only 'sqlite3\.h' tuner/store/store.c tuner/store/store_internal.h tuner/store/store_schema.c tuner/store/store_trials.c tuner/store/store_documents.c
only 'xxhash\.h' tuner/base/hash.c
only 'zlib\.h' tuner/base/gzip.c tuner/recorded/recorded.c
only 'nvrtc\.h' tuner/compile/nvrtc.c
only 'cuda\.h' tuner/libraries/cuda.c tuner/counting/counters.c
only 'cupti[a-z_]*\.h' tuner/libraries/cupti_library.c tuner/counting/counters.c tuner/counting/sass.c tuner/counting/sampling.c
only 'cublas[A-Za-z_0-9]*\.h' tuner/libraries/blas.c
exit $status
