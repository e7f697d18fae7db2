# The tables of BENCHMARKS.md and README.md, for tables.sh: {"<marker>": "<lines>"}. Input: the documents of
# docs/benchmarks, one after another. $rows: the text of benchmarks.tsv.

# A figure with this many decimals, as text.
def decimals($d):
  pow(10; $d) as $scale | (. * $scale | round) as $n | ($n / $scale | floor | tostring)
  + (if $d > 0 then "." + ("00000000" + ($n % $scale | tostring))[-$d:] else "" end);

# The number of decimals for this many significant digits.
def digits($n): [$n - 1 - (log10 | floor), 0] | max;

def shown_time:
  (if .[0] >= 1e-3 then [1e3, "ms"] else [1e6, "us"] end) as [$scale, $unit]
  | map(. * $scale) | (.[0] | digits(4)) as $d | map(decimals($d)) | "\(.[0]) \($unit) [\(.[1]), \(.[2])]";

def shown_ratio: map(decimals(3)) | "\(.[0]) [\(.[1]), \(.[2])]";

def shown_rate($unit):
  (if $unit == "B/s" then .bytes_per_second else .flops_per_second end) / 1e12
  | "\(decimals(digits(3))) T\($unit)";

# "M=4096,N=4096,K=4096" is 4096³.
def shown_problem:
  split(",") | map(split("=")[1])
  | if length > 1 and length < 4 and (unique | length) == 1 then .[0] + ["²", "³"][length - 2] else join("x") end;

def library: {"cublas": "cuBLAS"}[.] // sub("^cublasLt"; "Lt");
def library_in_full: if startswith("cublasLt") then "cublasLt's best" else library end;

# The fastest library in the final, or null.
def fastest: map(select(.trial == null and .ok and .ratio[0] != null)) | min_by(.ratio[0]);

# The identity of a run. Rows with the same machine, commit and form of the command share a letter.
def file_name: .job | split("/")[-1];
def command_form:
  . as $d | .command | sub(" --no-nvcc"; " --no-checks") # the option's current name
  | split($d.job + ".cfg") | join("JOB.cfg") | split("--time \($d.seconds)s") | join("--time S")
  | split("--seed \($d.seed)") | join("--seed N")
  | split(($d | file_name) + (if $d.first then "" else "_seed\($d.seed)" end) + ".db") | join("JOB.db");
def run_of:
  "\(.compare.device), driver \(.compare.driver), \(.compare.compiler), \(.cores) cores; commit \(.commit); \(.date);\n"
  + "`\(command_form | split(" --store") | join("\n--store"))`";

# Rows are lists of cells. Empty columns are left out.
def table_of($header; $rows):
  if $rows == [] then "Not measured yet." else
    [range($header | length) | select(. as $column | $rows | any(.[$column] != ""))] as $columns
    | ([$header] + [$header | map("---")] + $rows | map([.[$columns[]]] | "| " + join(" | ") + " |" | gsub("  +"; " "))
      | join("\n"))
  end;

($rows | split("\n") | map(select(. != "" and (startswith("#") | not)) | split("\t"))
  | map({table: .[0], job: .[1], seeds: (.[3] | split(",") | map(tonumber)), readme: (.[4] == "yes"), unit: .[5],
         what: .[6]})) as $rows
| [inputs] as $all
| ($rows | map(. as $row | . + {runs: (.seeds | map(. as $seed | $all[]
    | select(.job == $row.job and .seed == $seed) | .first = ($seed == $row.seeds[0])))})
  | map(select(.runs != [] and .runs[0].first))) as $rows
| (reduce ($rows[].runs[] | run_of) as $run ([]; if index([$run]) then . else . + [$run] end)) as $runs
| ("ABCDEFGHIJKLMNOPQRSTUVWXYZ" / "") as $letters

# One line per problem: {table, readme, line of BENCHMARKS, line of README}.
| [$rows[] | . as $row | .runs[0] as $first | $first.compare.problems | to_entries[] | .key as $p | .value
   | (.entries[] | select(.winner)) as $winner | (.entries | fastest) as $library
   | ([$row.runs[1:][] | .compare.problems[$p].entries | fastest | if . then .ratio[0] | decimals(3) else "-" end]
      | join(", ")) as $others
   | (if $first.compare.problems[1] then ", \(.problem | shown_problem)" else "" end) as $size
   | ($winner.ceiling_percent | if . then ", \(decimals(0))%" else "" end) as $share
   | (if $library then $library.ratio | shown_ratio else "-" end) as $ratio
   | {table: $row.table, readme: ($row.readme and $p == 0),
      bench: [($first | file_name) + $size, "\($first.seconds) s, \($first.candidates)", ($winner.time | shown_time),
              ($winner | shown_rate($row.unit)) + $share, "\($ratio) \($library.name // "" | library)", $others,
              $letters[$runs | index([$first | run_of])]],
      short: [$row.what + $size, "`\($row.job)`", "\($first.seconds) s",
              ($winner.time | shown_time | split(" [")[0]), $ratio,
              ($library.name // "-" | library_in_full)]}
  ] as $lines
| ["job", "search, candidates", "tuned", "rate, of ceiling", "ratio to the fastest library", "other seeds", "run"]
  as $header
| (["fp32", "tensor", "memory", "studies"] | map(. as $table
    | {key: ., value: table_of($header; $lines | map(select(.table == $table).bench))}) | from_entries)
  + {runs: ($runs | to_entries | map("- \($letters[.key]): \(.value | gsub("\n"; "\n  "))") | join("\n")),
     results: table_of(["what", "job", "search", "tuned", "ratio", "against"]; $lines | map(select(.readme).short))}
