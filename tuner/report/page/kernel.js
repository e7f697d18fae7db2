// What limits the kernel, the machine over the night, and how to reproduce.

const LIMITERS = {
    memory: 'Memory-bound: the kernel takes as long as its memory traffic. Fewer bytes or better coalescing helps.',
    math: 'Math-bound: the kernel takes as long as its instructions. Fewer or cheaper instructions help.',
    balanced: 'Balanced: memory and arithmetic take equally long and overlap. Reduce both.',
    latency: 'Latency-bound: memory and arithmetic hardly overlap. More warps or more loads in flight help.',
};

// Any value of the documents as text.
const valueText = value =>
    value === null || value === undefined
        ? UNKNOWN
        : known(value)
          ? compact(value)
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value);

function showLimits(parent, result, job) {
    const {limits, findings} = result,
        file = fileOf(job);
    if (limits) {
        const {limiter, warnings, ...rest} = limits,
            key = String(limiter ?? '').split(/[^a-z]/)[0];
        parent.append(
            el('p.limiter', LIMITERS[key] ?? `Limiter: ${valueText(limiter)}`),
            pairs(
                Object.entries(rest)
                    .filter(([, value]) => value !== null && typeof value !== 'object')
                    .map(([name, value]) => [
                        name.replaceAll('_', ' '),
                        name === 'overlap' ? percent(value) : valueText(value),
                    ]),
                {class: 'facts'}
            ),
            ...(warnings ?? []).map(text => el('p.note', valueText(text)))
        );
    } else parent.append(absent(`The limit of the winner is unknown. On its GPU: sweetspot profile --limits ${file}`));
    if (!findings) return `The winner has not been profiled. Run on its GPU: sweetspot profile ${file}`;
    parent.append(
        el(
            'h3',
            known(result.profiled_trial)
                ? `Findings of the profile of trial ${result.profiled_trial}`
                : 'Findings of the profile'
        )
    );
    if (!findings.length) parent.append(absent('The profile found nothing that costs time.'));
    const fields = ['rule', 'seen', 'why', 'advice', 'gain', 'parameter', 'value'];
    parent.append(
        el(
            'ol.findings',
            findings.map(each =>
                el(
                    'li',
                    el('strong', each.seen ?? valueText(each.rule)),
                    known(each.gain) ? el('span.gain', ` up to ${percent(each.gain, 2)} of the time`) : null,
                    el(
                        'p',
                        [each.why, each.advice]
                            .filter(Boolean)
                            .map(text => (/[.!?]$/.test(text) ? text : `${text}.`))
                            .join(' ')
                    ),
                    pairs(
                        Object.entries(each)
                            .filter(([name]) => !fields.includes(name))
                            .map(([name, value]) => [name.replaceAll('_', ' '), valueText(value)]),
                        {class: 'facts'}
                    )
                )
            )
        )
    );
}

// The machine ------------------------------------------------------------------------------------

const MACHINE = [
    ['temperature', 'Temperature', '°C'],
    ['clock', 'Clock', 'MHz'],
    ['power', 'Power', 'W'],
];

// "Temperature, clock and power over the time of the search"
function sentence(words) {
    const text = words.join(', ').replace(/, ([^,]*)$/, ' and $1');
    return `${text[0].toUpperCase()}${text.slice(1)} over the time of the search`;
}

function showMachine(parent, result) {
    const {columns = [], rows = []} = result.machine ?? {};
    const begin = columns.indexOf('moment');
    const have = MACHINE.map(([column, ...words]) => [columns.indexOf(column), ...words]).filter(
        ([i]) => i >= 0 && rows.some(row => known(row[i]))
    );
    const missing = MACHINE.filter(([, words]) => !have.some(each => each[1] === words)).map(([, words]) =>
        words.toLowerCase()
    );
    if (!have.length)
        return (
            'The store has no temperature, clock or power. They come from NVML while sweetspot tune ' + 'runs on a GPU.'
        );
    const each = 130,
        gap = 34;
    figure(parent, {
        id: 'machine',
        title: sentence(have.map(([, words]) => words.toLowerCase())),
        note: missing.length ? `Not in the store: ${missing.join(', ')}.` : '',
        height: have.length * (each + gap) + 30,
        option: () => {
            const p = palette(),
                dates = rows.map(row => row[begin] * 1000);
            return {
                grid: have.map((_, k) => ({left: 64, right: 20, top: 24 + k * (each + gap), height: each})),
                xAxis: have.map((_, k) => ({
                    type: 'time',
                    gridIndex: k,
                    min: least(dates),
                    max: most(dates),
                    axisLine: {lineStyle: {color: p.line}},
                    axisTick: {show: false},
                    splitLine: {show: false},
                    axisLabel: {color: p.muted, show: k === have.length - 1, hideOverlap: true},
                })),
                yAxis: have.map(([i, words, unit], k) => ({
                    ...axis(
                        rows.map(row => row[i]),
                        {log: false, wanted: 4, name: `${words} (${unit})`}
                    ),
                    gridIndex: k,
                    nameLocation: 'end',
                    nameTextStyle: {color: p.muted, align: 'left', padding: [0, 0, 0, -40]},
                    nameGap: 8,
                })),
                axisPointer: {link: [{xAxisIndex: 'all'}], lineStyle: {color: p.muted}},
                tooltip: {
                    trigger: 'axis',
                    formatter: found => {
                        const row = rows[found[0].dataIndex];
                        return tip(
                            moment(row[begin]),
                            have.map(([i, words, unit]) => [words, `${plain(row[i])} ${unit}`])
                        );
                    },
                },
                series: have.map(([i], k) => ({
                    type: 'line',
                    xAxisIndex: k,
                    yAxisIndex: k,
                    symbol: 'circle',
                    showSymbol: rows.length < 3,
                    lineStyle: {width: 1.5, color: p.series[k]},
                    itemStyle: {color: p.series[k]},
                    data: rows.map((row, at) => [dates[at], row[i]]),
                })),
            };
        },
        figures: () => ({
            columns: ['Moment', ...have.map(([, words, unit]) => `${words} (${unit})`)],
            rows: rows.map(row => [moment(row[begin]), ...have.map(([i]) => plain(row[i]))]),
        }),
    });
}

function showReproduce(parent, result) {
    const lines = result.reproduce ?? [];
    if (!lines.length) return 'The store does not say how its runs were started.';
    const text = lines.join('\n'),
        code = el('pre', {tabindex: '0'}, el('code', text));
    const said = el('span', {role: 'status', class: 'note'});
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text);
            said.textContent = 'Copied.';
        } catch {
            getSelection().selectAllChildren(code);
            said.textContent = 'Selected: copy it with Ctrl-C.';
        }
    };
    parent.append(code, el('div.controls', el('button', {type: 'button', id: 'copy', onclick: copy}, 'Copy'), said));
}
