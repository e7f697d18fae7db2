// Reports in the format of docs/json.md, generated from a seed. A landscape over a few parameters is searched at
// random, and everything that the page shows is computed from the trials of this search.
'use strict';

// mulberry32
function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const PARAMETERS = [
    ['BLOCK_M', [64, 128, 256], 0.32],
    ['BLOCK_N', [64, 128, 256], 0.22],
    ['BLOCK_K', [8, 16, 32], 0.12],
    ['WARP_M', [32, 64], 0.05],
    ['TILE_COL_SIZE', [4, 8], 0.1],
    ['STAGES', [2, 3, 4, 5], 0.08],
    ['A_ASYNC', [0, 1], 0.03],
    ['UNROLL_K', [0, 1, 2, 4, 8], 0.14],
    ['DOUBLE_BUFFER', [0, 1], 0.04],
    ['REDUCTION', ['shuffle', 'shared'], 0.02],
];

const COUNTERS = [
    ['registers', '', 'registers a thread, of the worst stage', (t, r) => Math.min(255, Math.round(60 + 150 * r()))],
    ['occupancy', '', 'achieved occupancy', (t, r) => 0.06 + 0.5 * r() * Math.min(1, 4e-4 / t)],
    ['icache_misses', 'misses', 'instruction-cache misses', (t, r) => Math.round(40 * (t / 3e-4) ** 3 * (0.5 + r()))],
    [
        'bank_conflicts_load',
        'conflicts',
        'bank conflicts of shared loads',
        (t, r) => Math.max(0, Math.round(1e5 * r() ** 3) - 50),
    ],
    ['dram_bytes', 'bytes', 'bytes moved by device memory', (t, r) => Math.round(3.3e7 * (1 + r() ** 2))],
    ['compile_seconds', 's', 'seconds to compile', (t, r) => 0.2 + 0.5 * r()],
];

const quantile = (sorted, share) => (sorted.length ? sorted[Math.floor(share * (sorted.length - 1))] : null);
const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);

// Trials: [{id, config (indices), status, reason, time, at (seconds)}].
function search(r, parameters, trials, base, failing) {
    const effects = parameters.map(([, values, weight]) => {
        const good = Math.floor(r() * values.length);
        return values.map((_, i) => 1 + 2.2 * weight * Math.min(3, Math.abs(i - good)) * (0.6 + 0.8 * r()));
    });
    return Array.from({length: trials}, (_, i) => {
        const config = parameters.map(([, values]) => Math.floor(r() * values.length));
        const value = base * config.reduce((product, at, k) => product * effects[k][at], 1) * (1 + 0.02 * r());
        const fate = r();
        if (fate < failing) {
            const big = config[0] === parameters[0][1].length - 1;
            const [status, reason] =
                fate < failing * 0.5 || big
                    ? ['launch_error', 'too many resources requested for launch']
                    : fate < failing * 0.8
                      ? ['wrong', '12 elements of C exceed the bound']
                      : ['compile_timeout', 'over 60 s'];
            return {id: i + 1, config, status, reason, time: null, at: 12 * (i + 1)};
        }
        return {
            id: i + 1,
            config,
            status: value > 1.5 * base ? 'slow' : 'ok',
            reason: '',
            time: value,
            at: 12 * (i + 1),
        };
    });
}

function result(options) {
    const {
        seed = 1,
        trials = 900,
        device = 'NVIDIA H200',
        base = 3.2e-4,
        library = 3.47e-4,
        failing = 0.06,
        points = 3000,
        parameters = PARAMETERS,
        size = 2048,
        final = true,
        current = true,
    } = options;
    const r = random(seed),
        all = search(r, parameters, trials, base, failing),
        began = 1795300000;
    const timed = all.filter(trial => trial.time !== null),
        sorted = timed.toSorted((a, b) => a.time - b.time);
    const best = sorted[0] ?? null,
        counts = {};
    for (const {status} of all) counts[status] = (counts[status] ?? 0) + 1;
    const text = config => parameters.map(([name, values], k) => `${name}=${values[config[k]]}`).join(',');
    const rows = [];
    all.forEach((trial, i) => {
        if (trial.time !== null && (!rows.length || trial.time < rows.at(-1)[2])) {
            rows.push([trial.at, i + 1, trial.time, trial.id]);
        }
    });
    if (best) rows.push([12 * trials, trials, best.time, best.id]);
    const by = (k, i) => {
        const those = all.filter(trial => trial.config[k] === i),
            found = sorted.filter(trial => trial.config[k] === i).map(trial => trial.time);
        return {
            n: those.length,
            ok: found.length,
            best: found[0] ?? null,
            q1: quantile(found, 0.25),
            median: quantile(found, 0.5),
            q3: quantile(found, 0.75),
        };
    };
    const weight = parameters.reduce((sum, each) => sum + each[2], 0);
    const shownPoints = all.slice(0, points),
        flops = 2 * size ** 3;
    const noise = () => 1 + 0.002 * (r() - 0.5);
    const entry = (name, trial, value) => ({
        name,
        trial: trial?.id ?? null,
        config: trial ? text(trial.config) : null,
        ok: true,
        reason: '',
        winner: trial === best,
        tied: Boolean(trial) && trial !== best && value / best.time < 1.01,
        time: {value, low: value * 0.998, high: value * 1.002},
        ratio: {
            value: (value / best.time) * noise(),
            low: (value / best.time) * 0.997,
            high: (value / best.time) * 1.003,
        },
        registers: trial ? 168 : null,
        shared_bytes: trial ? 49152 : null,
        spill_bytes: trial ? 0 : null,
        code_bytes: trial ? 21760 : null,
        occupancy: trial ? 0.1875 : null,
    });
    const value = best ? library / best.time : null;
    return {
        device,
        arch: 'sm_90a',
        driver: '580.159.04',
        compiler: 'nvrtc 13.0',
        source_hash: '1022744b51d2f47d8bf125b838a1b4b9',
        current,
        replayed: false,
        recording: null,
        objective: 'geomean',
        problems: [
            {name: `M=${size},N=${size},K=${size}`, tuned: true},
            {name: 'M=513,N=511,K=1023', tuned: false},
        ],
        counts,
        evaluations: trials,
        space: 4416,
        started: began,
        ended: began + 12 * trials,
        seconds: 12 * trials,
        runs: [
            {
                started: began,
                ended: began + 5 * trials,
                new: Math.round(trials * 0.4),
                strategy: 'default',
                seed: 1,
                at: 0,
                evaluations_before: 0,
            },
            {
                started: began + 6 * trials,
                ended: began + 13 * trials,
                new: Math.round(trials * 0.6),
                strategy: 'default',
                seed: 1,
                at: 12 * Math.round(trials * 0.4),
                evaluations_before: Math.round(trials * 0.4),
            },
        ],
        verdict: !best ? 'no final' : !final ? 'no final' : value > 1.01 ? 'faster' : value < 0.99 ? 'slower' : 'tie',
        ratio: best && final ? {value, low: value * 0.995, high: value * 1.005, against: 'cublas'} : null,
        best: best && {trial: best.id, config: text(best.config), time: best.time},
        winner:
            best && final
                ? {
                      trial: best.id,
                      config: text(best.config),
                      ties: 1,
                      time: {value: best.time, low: best.time * 0.998, high: best.time * 1.002},
                  }
                : null,
        baselines: [
            {name: 'cublas', time: library},
            {name: 'cublasLt', time: library * 1.004},
        ],
        progress: {columns: ['seconds', 'evaluations', 'time', 'trial'], rows},
        values: {edges: 'the winner has the largest STAGES (5): values beyond these may be faster', idle: null},
        importance_method: 'variance of the trees’ predictions (fANOVA)',
        parameters: parameters.map(([name, values, own], k) => ({
            name,
            values: values.map(String),
            importance: best ? own / weight : null,
            by_value: values.map((_, i) => by(k, i)),
        })),
        trials: {
            of: all.length,
            trial: all.map(trial => trial.id),
            time: all.map(trial => trial.time),
            status: all.map(trial => trial.status),
            values: parameters.map((_, k) => all.map(trial => trial.config[k])),
        },
        failures: [...new Set(all.filter(trial => trial.time === null).map(trial => trial.status))].map(status => {
            const those = all.filter(trial => trial.status === status);
            return {
                status,
                reason: those[0].reason,
                count: those.length,
                trials: those.slice(0, 5).map(trial => trial.id),
            };
        }),
        points: {
            shown: shownPoints.length,
            of: trials,
            columns: ['trial', 'time', ...COUNTERS.map(each => each[0])],
            units: ['', 's', ...COUNTERS.map(each => each[1])],
            meanings: ['number of the trial', 'time of the objective', ...COUNTERS.map(each => each[2])],
            rows: shownPoints.map(trial => [
                trial.id,
                trial.time,
                ...COUNTERS.map(each => (trial.time === null ? null : each[3](trial.time, r))),
            ]),
            values: shownPoints.map(trial => trial.config),
        },
        final:
            best && final
                ? {
                      when: began + 13 * trials,
                      rounds: 40,
                      processes: 3,
                      open: false,
                      entries: [
                          ...sorted.slice(0, 4).map(trial => entry(String(trial.id), trial, trial.time)),
                          entry('cublas', null, library),
                          entry('cublasLt', null, library * 1.004),
                          ...(sorted[4]
                              ? [
                                    {
                                        ...entry(String(sorted[4].id), sorted[4], sorted[4].time),
                                        ok: false,
                                        time: null,
                                        ratio: null,
                                        reason: 'racecheck: a hazard of 2 accesses',
                                    },
                                ]
                              : []),
                      ],
                  }
                : null,
        gates:
            best && final
                ? ['v1.1', 'v1.0'].map((base, i) => ({
                      when: began + 14 * trials - 1e5 * i,
                      base,
                      verdict: 'same',
                      device: 'NVIDIA H200',
                      driver: `580.${i}`,
                      compiler: 'nvrtc 13.0',
                      problems: [
                          {problem: `M=${size}`, verdict: 'same', ratio: [1.0012, 0.9998, 1.0025]},
                      ],
                  }))
                : [],
        limits: best
            ? {
                  limiter: 'math-bound',
                  overlap: 0.93,
                  instructions_per_byte: 5.1,
                  balanced_ratio: 4.4,
                  bytes_wanted: 50331648,
                  bytes_moved: 35127296,
                  warnings: [],
                  version: 1,
              }
            : null,
        findings: best
            ? {
                  problem: `M=${size}`,
                  version: 1,
                  findings: [
                      {
                          rule: 'bank_conflicts',
                          seen: 'line 263 needs 2.0 times the ideal number of wavefronts',
                          why: 'threads of a warp read different rows of the same bank',
                          advice: 'LANE_PAIRS=1 would spread them',
                          gain: 0.07,
                          parameter: 'LANE_PAIRS',
                          value: '1',
                          line: {file: 'gemm_simt.cu', line: 263},
                      },
                      {
                          rule: 'issue',
                          seen: 'schedulers issue in 71% of the cycles',
                          why: 'warps wait for data from shared memory',
                          advice: '',
                          gain: null,
                      },
                  ],
              }
            : null,
        profiled_trial: best?.id ?? null,
        reproduce: 'sweetspot tune configs/sgemm_2048.cfg --seed 1',
    };
}

const job = (name, results, rest) => ({
    name,
    title: 'C = alpha*A*B + beta*C in FP32 without tensor cores',
    job_file: `configs/${name}.cfg`,
    store: `out/${name}.db`,
    error: null,
    results,
    ...rest,
});

const report = (...jobs) => ({
    format: 'sweetspot-report',
    version: 4,
    made: 1795332352,
    program: 'sweetspot 0.9',
    jobs,
});

// Replaces every number in the value by null, so that everything that can be unknown is unknown.
function unknownNumbers(value) {
    if (typeof value === 'number') return null;
    if (Array.isArray(value)) return value.map(unknownNumbers);
    if (value && typeof value === 'object') {
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unknownNumbers(each)]));
    }
    return value;
}

const MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{b}';

function withMarkup() {
    const one = result({
        trials: 200,
        device: `H200 ${MARKUP}`,
        parameters: PARAMETERS.map(([name, values, weight], k) =>
            k ? [name, values, weight] : [`BLOCK ${MARKUP}`, values.map(value => `${value} ${MARKUP}`), weight]
        ),
    });
    one.baselines[0].name = one.ratio.against = one.final.entries[4].name = MARKUP;
    for (const each of one.failures) each.status = each.reason = MARKUP;
    one.gates[0].base = one.gates[0].problems[0].problem = one.gates[0].problems[0].verdict = MARKUP;
    one.findings.findings[0].seen = one.findings.findings[0].why = one.limits.warnings[0] = one.reproduce = MARKUP;
    one.points.columns[2] = one.points.meanings[2] = MARKUP;
    one.runs[0].strategy = one.trials.status[0] = MARKUP;
    return report(job(MARKUP, [one], {title: MARKUP, job_file: MARKUP}), job(`a${MARKUP}`, [], {error: MARKUP}));
}

// A set of jobs of two kinds, with the same sizes for both.
function suite(jobs, options = {}) {
    const sizes = Array.from({length: Math.ceil(jobs / 2)}, (_, i) => 128 * (i + 1));
    return report(
        ...Array.from({length: jobs}, (_, i) => {
            const size = sizes[i >> 1],
                kind = i % 2 ? 'bf16' : 'fp32',
                base = 3e-4 * (size / 2048) ** 2.8 * (1 + (i % 5) / 50);
            return job(
                `${kind}_${size}`,
                i % 12 === 11
                    ? []
                    : [
                          result({
                              seed: i + 1,
                              size,
                              base,
                              trials: 300,
                              final: i % 10 !== 9,
                              library: base * 1.5 * (0.92 + (0.3 * (i % 7)) / 7),
                              ...options,
                          }),
                      ]
            );
        })
    );
}

const VARIANTS = {
    one: () => report(job('sgemm_2048', [result({})])),
    devices: () =>
        report(
            job('sgemm_2048', [
                result({seed: 1}),
                result({seed: 2, device: 'NVIDIA H100', current: false}),
                result({seed: 3, device: 'NVIDIA A100', base: 9e-4, library: 8e-4, current: false}),
            ]),
            job('other', [])
        ),
    empty: () => report(),
    noTrials: () => report(job('sgemm_2048', [])),
    noFinal: () => report(job('sgemm_2048', [result({final: false})])),
    failuresOnly: () => report(job('sgemm_2048', [result({failing: 1, trials: 60})])),
    oneConfiguration: () => report(job('sgemm_2048', [result({trials: 1, failing: 0, parameters: [['X', [1], 1]]})])),
    unknown: () => report(job('sgemm_2048', [unknownNumbers(result({trials: 100}))])),
    manyValues: () =>
        report(
            job('sgemm_2048', [
                result({
                    trials: 3000,
                    parameters: [['X', Array.from({length: 1000}, (_, i) => i), 0.5], ...PARAMETERS.slice(1)],
                }),
            ])
        ),
    large: () => report(job('sgemm_2048', [result({trials: 100000, points: 10000})])),
    running: () => report(job('sgemm_2048', [result({trials: 200, final: false})], {running: true})),
    unreadable: () => report(job('sgemm_2048', [], {error: 'out/sgemm_2048.db: not a store'})),
    markup: withMarkup,
    many: () => suite(48),
};

module.exports = {VARIANTS, MARKUP, result, job, report, suite};
