#!/bin/sh
# Fetches the libraries that `sweetspot report` inlines, and checks them against the hashes in the lock file of
# tuner/report/page. Stores them in out/npm/report as one script, and their licences and notice as one file. Never
# fails: it reports what is missing, and everything except `report` works without it.
set -u
page=tuner/report/page to=out/npm kept=out/npm/report
stamp=$(cksum <$page/package-lock.json)
[ "$(cat $to/fetched 2>/dev/null)" = "$stamp" ] && [ -s $kept/libraries.js ] && exit 0

missing() {
    echo "setup: the charts of \`sweetspot report\` are missing: $1. The rest works; \`make charts\` tries again." >&2
    : >$to/failed
    exit 0
}
mkdir -p $to || exit 0
command -v npm >/dev/null 2>&1 || missing 'npm is not installed (apt-get install npm)'
rm -rf $to/new
mkdir $to/new && cp $page/package.json $page/package-lock.json $to/new || missing "cannot write $to/new"
(cd $to/new && timeout 90 npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 0 --fetch-timeout 30000) \
    >$to/npm.log 2>&1 || missing "npm cannot fetch them ($to/npm.log)"
from=$to/new/node_modules
rm -rf $kept
# ECharts' file contains zrender, whose licence must be included.
mkdir -p $kept && {
    cat $from/echarts/LICENSE $from/echarts/NOTICE
    printf '\n\nApache ECharts contains zrender, which has this licence:\n\n'
    cat $from/zrender/LICENSE
    printf '\n\nDataTables has this licence:\n\n'
    cat $from/datatables.net/License.txt
} >$kept/LICENSES && {
    cat $from/echarts/dist/echarts.min.js
    echo ';'
    cat $from/datatables.net/js/dataTables.min.js
} >$kept/new.js && mv $kept/new.js $kept/libraries.js || missing "an incomplete package ($to/new)"
rm -rf $to/new $to/failed
echo "$stamp" >$to/fetched
