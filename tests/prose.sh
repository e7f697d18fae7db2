#!/bin/sh
# Words that documents, comments and messages avoid because a usual word says the same. Fails if such a word is used.
# With `long`, also lists sentences of more than 30 words in documents; these are only advice.
#
# Usage: tests/prose.sh [long]
cd "$(dirname "$0")/.." || exit 1
words='innocent|befalls?|signs? of life|last words|goes? round|likewise|in the place of|whoever|starves?'
found=$(grep -rnEiw "$words" --include='*.md' --include='*.[ch]' tuner search kernels docs ./*.md)
[ -z "$found" ] || printf '%s\n\nsay these in usual words\n' "$found"
[ "${1:-}" != long ] || awk '
    FNR == 1 { text = ""; code = 0 }
    /^```/ { code = !code }
    code || /^(\||#|    |<|\[)/ { text = ""; next }
    { text = text " " $0 }
    /^$/ { n = split(text, sentence, /[.:;?!] /); text = ""
           for (i = 1; i <= n; i++)
               if (split(sentence[i], unused, " ") > 30) print FILENAME ":" FNR ":" sentence[i] }' docs/*.md ./*.md
[ -z "$found" ]
