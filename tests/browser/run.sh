#!/usr/bin/env bash
# Runs the browser tests and ends with one line: N passed, N failed, N skipped. If something that the tests need is
# missing, all tests are skipped, with a message.
#
# Usage: SCRIPT=out/page/report.js BIN=out/bin tests/browser/run.sh. Installs Chromium if root runs this and apt-get
# exists. DEADLINE: time limit of all tests together in seconds.
set -u
folder=tests/browser
log=out/browser.log
skip() {
    echo "browser tests: skipped: $1" >&2
    echo "0 passed, 0 failed, $(cat $folder/test_*.js | grep -cE "^ *(all|test|real)\(") skipped"
    exit 0
}
command -v node >/dev/null || skip 'node is not installed (apt-get install nodejs)'
case $(node --version) in v[0-9].* | v1[0-9].*) skip 'node is older than 20' ;; esac
[ -s out/npm/report/libraries.js ] || skip 'the libraries of the page are missing (make charts)'
node --check "$SCRIPT" || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
if ! node -e "process.exit(require('./$folder/chromium.js').findChromium() ? 0 : 1)"; then
    sh tests/install.sh chromium
    node -e "process.exit(require('./$folder/chromium.js').findChromium() ? 0 : 1)" ||
        skip 'Chromium is not installed (apt-get install chromium)'
fi
timeout "${DEADLINE:-480}" node --test --test-concurrency=1 --test-reporter tap $folder/test_*.js >$log 2>&1
status=$?
if [ $status -ne 0 ]; then cat $log; fi
figure() { sed -n "s/^# $1 \([0-9]*\)$/\1/p" $log | tail -1; }
passed=$(figure pass) failed=$(figure fail) cancelled=$(figure cancelled) skipped=$(figure skipped)
failed=$((${failed:-0} + ${cancelled:-0}))
[ $status -eq 0 ] || [ $failed -gt 0 ] || failed=1
grep -E '^ *ok .*# SKIP' $log
echo "${passed:-0} passed, $failed failed, ${skipped:-0} skipped"
[ $failed -eq 0 ]
