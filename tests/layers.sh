#!/bin/sh
# Checks the structure: includes between folders, one module for each foreign library, one struct or enum for each name,
# lines of at most 120 columns, and whether mutants apply. Formatting is checked where clang-format is installed.
status=0
complain() {
    echo "layers: $1" >&2
    status=1
}
# refuse FOLDER PATTERN WHY
refuse() {
    found=$(grep -rnE "^[ \t]*#[ \t]*include[ \t]*[<\"]($2)" "$1" --include='*.[ch]' --include='*.cu') && complain "$3:
$found"
}
# only LIBRARY-PATTERN FILES... : only these files may include the header
only() {
    pattern=$1
    shift
    found=$(grep -rlE "^[ \t]*#[ \t]*include[ \t]*<($pattern)" search kernels tuner --include='*.[ch]')
    for file in $found; do
        case " $* " in *" $file "*) ;; *) complain "<$pattern> is included by $file; only by: $*" ;; esac
    done
}
foreign='cuda|nvrtc|cupti|cublas|nvml|sqlite3|libconfig|jansson|mpi'

# Which folders each folder may include, the lowest first. A folder may include only folders above it in this table, so
# there are no cycles.
layers='
base:
search: base
kernels: base
trial: base
protocol: base trial
node: base
libraries: base kernels
counting: base libraries trial
gpu: base kernels libraries counting trial protocol
job: base search kernels trial
source: base
store: base trial
recorded: base search trial job store
compiler: base trial protocol source
pool: base trial protocol node job source
policy: base search job
setup: base search kernels trial protocol store job source pool policy
watch: base protocol pool
final: base search trial protocol store job pool setup policy watch
run: base search trial protocol store recorded job pool setup policy watch final
explain: base search trial protocol job pool setup final
simulate: base search trial protocol recorded policy
header: base kernels trial store job final
check: base protocol kernels job source pool setup
init: base search kernels job source pool setup check
report: base search trial store job header final
cli: base search kernels trial store recorded job init pool setup policy
cli: run watch final explain simulate header report check
'
# Pairs of folders that still include each other.
open=
folders=$(echo "$layers" | sed -n 's/:.*//; /./p' | uniq | tr '\n' ' ')
seen=''
for folder in $folders; do
    case $folder in search | kernels) place=$folder ;; *) place=tuner/$folder ;; esac
    allowed=$(echo "$layers" | sed -n "s/^$folder: *//p" | tr '\n' ' ')
    for name in $allowed; do
        case " $seen " in *" $name "*) continue ;; esac
        case " $open " in *" $folder:$name "*) ;; *) complain "$folder may include $name, which is not below it" ;; esac
    done
    seen="$seen $folder"
    used=$(grep -rhoE '^[ \t]*#[ \t]*include "(tuner/[a-z_]+|search|kernels)/' "$place" --include='*.[ch]' |
        sed -E 's|.*"(tuner/)?([a-z_]+)/|\2|' | sort -u)
    for name in $used; do
        case " $folder $allowed " in *" $name "*) ;; *) complain "$place includes files of $name:
$(grep -rnE "include \"(tuner/)?$name/" "$place" --include='*.[ch]')" ;; esac
    done
done
for place in tuner/*/; do
    case " $folders " in *" $(basename "$place") "*) ;; *) complain "$place is not in the table of layers" ;; esac
done

refuse search "$foreign|time\.h|unistd|fcntl|tuner/base/clock" 'search/ knows no CUDA, no files, no clock'
refuse search/space 'search/(model|strategies)/' 'the space knows no models and no strategies'
refuse search/model 'search/strategies/' 'models know no strategies'
# The GPU worker's counting requests may use tuner/counting; code that times or verifies must not.
for file in $(grep -lE '^#include "tuner/counting/' tuner/gpu/*.[ch]); do
    case $file in
    tuner/gpu/gpu_counting.c | tuner/gpu/gpu_profile.c) ;;
    *) complain "$file includes tuner/counting" ;;
    esac
done
refuse tuner/policy "$foreign|time\.h|poll\.h|unistd|stdio|tuner/base/(clock|json|protocol)" \
    'decisions of a run are pure: no clock, no processes, no files'
if grep -rnE '\bFILE \*|\bfopen\b|\bprintf\(' search --include='*.[ch]' | grep -v snprintf; then
    complain 'search/ does no input and output'
fi

only 'libconfig\.h' tuner/job/reader.c
only 'jansson\.h' tuner/base/json.h
only 'sqlite3\.h' tuner/store/store_internal.h
only 'xxhash\.h' tuner/base/hash.c
only 'zlib\.h' tuner/base/gzip.c
only 'nvrtc\.h' tuner/compiler/nvrtc.c
only 'cuda\.h' tuner/libraries/cuda_driver.h
only 'cupti[a-z_]*\.h' tuner/libraries/cupti_library.h
only 'dlfcn\.h' tuner/libraries/library.c
only 'cublas[A-Za-z_0-9]*\.h' tuner/libraries/blas.c

# Memory and clocks come from tuner/base. When memory is exhausted, workers answer with an error and the driver ends.
found=$(grep -rnE '\b(malloc|calloc|realloc|aligned_alloc|strdup|strndup|clock_gettime|gettimeofday) *\(' tuner search \
    kernels --include='*.[ch]' | grep -v '^tuner/base/')
[ -z "$found" ] || complain "use tuner/base/memory.h, text.h or clock.h:
$found"
# The parts of an answer are small and come from an arena. If memory is exhausted for these, the worker may end, as in
# the JSON library's own allocations.
found=$(grep -rnE '\b(memory_new|memory_grow|text_copy|text_format) *\(' tuner/gpu tuner/counting \
    tuner/libraries kernels --include='*.[ch]')
[ -z "$found" ] || complain "the GPU worker must not end when memory is exhausted: use memory_try:
$found"

# No two structs, unions or enums may have the same name.
tag='^[ \t]*(static |const |typedef )*(struct|union|enum) [a-z_0-9]+ \{'
twice=$(grep -rhoE "$tag" tuner search kernels --include='*.[ch]' |
    sed -E 's/.*(struct|union|enum) ([a-z_0-9]+) \{/\2/' | sort | uniq -d)
for name in $twice; do
    complain "two structs, unions or enums are called '$name':
$(grep -rnE "(struct|union|enum) $name \{" tuner search kernels --include='*.[ch]')"
done

# No two files may have the same base name.
twice=$(find tuner search kernels -path tuner/source/host -prune -o -name '*.[ch]' -exec basename {} \; |
    sort | uniq -d)
[ -z "$twice" ] || complain "base names of files that are used twice: $twice"

# Names of JSON members occur in few places: messages (tuner/protocol), the store's documents, recordings, reports,
# sections of headers, events and the live file, and the records of the compile cache. Everything else uses structs. The
# files in tests/json_members.txt still name some members; this list may only shrink.
names='json_(pack|put|get_[a-z]+|object_(get|set|set_new|del))\((.*"|$)'
named=$(grep -rlE "$names" tuner search kernels --include='*.[ch]' |
    grep -vE '^tuner/(protocol|store|recorded|report|header|watch)/|/(run_events|run_documents|final_events)\.c$' |
    grep -vE '^tuner/base/json|/(cache|trial_field)\.c$')
for file in $named; do
    grep -qx "$file" tests/json_members.txt || complain "$file names members of JSON objects: use a record (record.h)"
done
while read -r file; do
    echo "$named" | grep -qx "$file" || complain "tests/json_members.txt: $file names no member: remove it"
done <tests/json_members.txt

# Files in templates/ have at most 500 lines; lines have at most 120 columns.
templates=$(echo templates/*.cu templates/*/*.cuh)
# shellcheck disable=SC2086
long=$(wc -l $templates | awk '$1 > 500 && $2 != "total"')
[ -z "$long" ] || complain "templates of more than 500 lines, which could be folders of files by role:
$long"
jobs=$(find configs tests/jobs -name '*.cfg' -o -name '*.inc')
sources=$(find tuner search kernels tests examples -path examples/foreign/sources -prune -o \
    -path tests/v1 -prune -o \
    -path tuner/source/host -prune -o \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' \) -print)
pages=$(find tests tuner -name '*.sh' -o -name '*.js' -o -name '*.css' -o -name '*.html')
scripts="$pages .ci/run Makefile examples/Makefile $(echo examples/foreign/*.sh)"
# shellcheck disable=SC2086
long=$(LC_ALL=C.UTF-8 awk 'length($0) > 120 {print FILENAME ":" FNR ": " length($0) " columns"}' \
    $sources $scripts $templates $jobs)
[ -z "$long" ] || complain "lines of more than 120 columns:
$long"

# Mutants must still apply to the code that they break.
if command -v patch >/dev/null; then
    for mutant in tests/mutants/*.patch tests/mutants/gpu/*.patch; do
        patch -p1 --dry-run --silent --forward --fuzz=0 <"$mutant" >/dev/null 2>&1 ||
            complain "$mutant does not apply any more"
    done
fi

# Debian 12 has clang-format 14; other versions break lines differently.
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    # shellcheck disable=SC2086
    unformatted=$(clang-format --dry-run $sources $templates 2>&1 | grep -E ': (warning|error):' |
        sed 's/: .*//;s/:[0-9]*$//' | sort -u)
    [ -z "$unformatted" ] || complain "not formatted (make format):
$unformatted"
fi
exit $status
