#!/bin/sh
# Stands in for compute-sanitizer in tests of the driver: writes a sample log where the tool would write its log, and
# then executes the worker. The log is $FAKE_SANITIZER_LOGS/TOOL.txt if it exists, otherwise tests/sanitizer/clean.txt;
# the scripted worker may replace it by tests/sanitizer/TOOL.txt. With $FAKE_SANITIZER_HANG=TOOL that tool never
# answers, and the process id of its child is written to $FAKE_SANITIZER_CHILD. Every start adds a line "TOOL" to
# $FAKE_TOOLS and takes $FAKE_SANITIZER_DELAY seconds.
if [ "$1" = --version ]; then
    echo 'NVIDIA (R) Compute Sanitizer'
    echo 'Copyright (c) 2020-2025 NVIDIA Corporation'
    echo 'Version 2025.3.1.0 (build 36398880) (public-release)'
    exit 0
fi
folder=$(dirname "$0")/sanitizer
log=/dev/null
while [ $# -gt 0 ]; do
    case $1 in
    --tool) tool=$2 && shift 2 ;;
    --log-file) log=$2 && shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
    esac
done
[ -z "$FAKE_TOOLS" ] || echo "$tool" >>"$FAKE_TOOLS"
if [ "$FAKE_SANITIZER_HANG" = "$tool" ]; then
    sleep 1000 &
    echo $! >"$FAKE_SANITIZER_CHILD"
    wait
fi
[ -z "$FAKE_SANITIZER_DELAY" ] || sleep "$FAKE_SANITIZER_DELAY"
sample=$FAKE_SANITIZER_LOGS/$tool.txt
[ -f "$sample" ] || sample=$folder/clean.txt
cp "$sample" "$log"
export FAKE_TOOL="$tool" FAKE_TOOL_LOG="$log" FAKE_TOOL_SAMPLE="$folder/$tool.txt"
exec "$@"
