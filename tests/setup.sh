#!/bin/sh
# Checks the requirements of the build, installs Debian packages if permitted, and otherwise prints exactly what to do.
# Called by the Makefile with CC, CUDA_HOME, CUDA_LIB, HEADERS and PACKAGES.
set -u

missing=
if ! command -v "${CC%% *}" >/dev/null 2>&1; then
    missing=" $CC"
else
    for header in $HEADERS; do
        # cmocka.h and zlib.h need these headers before them.
        printf '#include <%s.h>\n' stdarg stddef stdint setjmp "${header%.h}" |
            $CC -x c -fsyntax-only - 2>/dev/null || missing="$missing $header"
    done
fi
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        if ! sh tests/install.sh $PACKAGES; then
            tail -5 out/setup.log >&2
            echo "setup: apt-get failed (out/setup.log)" >&2
            exit 3
        fi
    else
        echo "setup: missing:$missing. Run this, then make again:" >&2
        echo "    sudo apt-get install -y $PACKAGES" >&2
        exit 3
    fi
fi

if [ ! -f "$CUDA_HOME/include/nvrtc.h" ] || [ ! -e "$CUDA_LIB/libnvrtc.so" ]; then
    echo "setup: no CUDA Toolkit with NVRTC in '$CUDA_HOME'." \
        "Install CUDA 12.8 or newer, or set CUDA_HOME=/path/to/cuda" >&2
    exit 3
fi
version=$(sed -n 's/^#define CUDA_VERSION *\([0-9]*\).*/\1/p' "$CUDA_HOME/include/cuda.h" 2>/dev/null)
if [ "${version:-0}" -lt 12080 ]; then
    echo "setup: the CUDA Toolkit in '$CUDA_HOME' is too old (CUDA_VERSION ${version:-unknown});" \
        "12.8 or newer is needed for CUPTI's range profiler" >&2
    exit 3
fi

# Only reports need npm. After a failure, the next attempt comes an hour later (with `make charts`, at once).
if [ -z "$(find out/npm/failed -mmin -60 2>/dev/null)" ]; then sh tests/charts.sh; fi
exit 0
