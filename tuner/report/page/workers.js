// GPUs and compilers: what each did, how busy the GPUs were over time, and what they waited for.

const BUSY_SERIES = 8; // more GPUs than this are drawn as their least, middle and most

const WORKER_STATES = ['starting', 'setting up', 'idle', 'measuring', 'counting', 'final', 'compiling', 'lost'];

// The line of a chart for each GPU, or three that stand for many. `of`: its numbers by bin.
function gpuLines(list, of) {
    if (list.length <= BUSY_SERIES) return list.map(gpu => ({name: gpu.name ?? gpu.uuid, data: of(gpu)}));
    const bins = of(list[0]).length;
    const ranked = Array.from({length: bins}, (_, b) => knownOf(list.map(gpu => of(gpu)[b])).sort((a, z) => a - z));
    return [
        ['the busiest', 1],
        ['the middle one', 0.5],
        ['the least busy', 0],
    ].map(([name, share]) => ({
        name: `${name} of ${list.length} GPUs`,
        data: ranked.map(values => values[Math.round(share * (values.length - 1))] ?? null),
    }));
}

function showGpusOverTime(parent, gpus, {id, title, name, of, words, whole}) {
    const {edges = [], list = []} = gpus;
    const hours = edges.at(-1) >= 7200,
        minutes = edges.at(-1) >= 300;
    const [unit, size] = hours ? ['hours', 3600] : minutes ? ['minutes', 60] : ['seconds', 1];
    const lines = gpuLines(list, of),
        middle = edges.slice(1).map((edge, b) => (edge + edges[b]) / 2);
    figure(parent, {
        id,
        title,
        height: 260,
        option: () => {
            const p = palette();
            return {
                xAxis: axis(
                    edges.map(edge => edge / size),
                    {name: `time of search (${unit})`, zero: true, splitLine: {show: false}}
                ),
                yAxis: axis(whole ? [0, whole] : lines.flatMap(line => line.data), {name, zero: true}),
                tooltip: {
                    trigger: 'axis',
                    formatter: ([{dataIndex}]) =>
                        tip(
                            `${duration(edges[dataIndex])} to ${duration(edges[dataIndex + 1])}`,
                            lines.map(line => [line.name, words(line.data[dataIndex])])
                        ),
                },
                series: lines.map((line, k) => ({
                    type: 'line',
                    step: 'middle',
                    name: line.name,
                    symbol: 'circle',
                    showSymbol: middle.length < 3,
                    lineStyle: {width: 1.5, color: p.series[k]},
                    itemStyle: {color: p.series[k]},
                    data: line.data.map((value, b) => [middle[b] / size, whole ? value * whole : value]),
                })),
            };
        },
        figures: () => ({
            columns: ['From', 'To', ...lines.map(line => line.name)],
            rows: middle.map((_, b) => [
                duration(edges[b]),
                duration(edges[b + 1]),
                ...lines.map(line => words(line.data[b])),
            ]),
        }),
    });
}

// What the GPUs of a run waited for, in words.
function limitOf(run) {
    if (!known(run.busy)) return UNKNOWN;
    const busy = `busy with candidates ${percent(run.busy, 2)} of the time`;
    return run.limit ? `${busy}; the limit was ${run.limit} (${percent(run.limit_share, 2)})` : busy;
}

function showWorkerTable(parent, workers) {
    const states = WORKER_STATES.filter(state => workers.some(worker => known(worker.seconds?.[state])));
    parent.append(
        table(
            [
                'Worker',
                'Node',
                'Done',
                'Failed',
                'Restarts',
                'Busy',
                ...states.map(state => `${state[0].toUpperCase()}${state.slice(1)}`),
                'Clock',
                'Temperature',
                'At the end',
            ],
            workers.map(worker => [
                worker.name ?? UNKNOWN,
                worker.node ?? UNKNOWN,
                count(worker.done),
                count(worker.failed),
                count(worker.restarts),
                percent(worker.busy, 2),
                ...states.map(state => duration(worker.seconds?.[state])),
                known(worker.clock_mhz) ? `${plain(worker.clock_mhz)} MHz` : UNKNOWN,
                known(worker.temperature) ? `${plain(worker.temperature)} C` : UNKNOWN,
                worker.reason ? `${worker.state}: ${worker.reason}` : (worker.state ?? UNKNOWN),
            ]),
            'Workers of the last run'
        )
    );
}

function showWorkers(parent, result) {
    const {runs = [], last, gpus} = result.workers ?? {};
    const workers = last?.workers ?? [],
        aside = workers.filter(worker => worker.state === 'set aside');
    if (!gpus?.list?.length && !workers.length) {
        parent.append(absent('The store does not say which workers its runs had. Runs of sweetspot tune leave it.'));
        return;
    }
    if (aside.length) {
        parent.append(
            el('p', {class: 'error'}, `${number(aside.length, 'GPU was', 'GPUs were')} set aside in the last run:`),
            el(
                'ul',
                {class: 'plain'},
                aside.map(worker => el('li', {}, `${worker.name} on ${worker.node}: ${worker.reason ?? UNKNOWN}`))
            )
        );
    }
    if (gpus?.list?.length) {
        showGpusOverTime(parent, gpus, {
            id: 'gpus-busy',
            title: 'How busy each GPU was with candidates',
            name: 'busy (%)',
            of: gpu => gpu.busy ?? [],
            words: value => percent(value, 3),
            whole: 100,
        });
        showGpusOverTime(parent, gpus, {
            id: 'gpus-rate',
            title: 'Candidates a second of each GPU',
            name: 'candidates a second',
            of: gpu => gpu.rate ?? [],
            words: value => plain(value, 3),
        });
    }
    if (runs.length) {
        parent.append(
            el('h3', {}, 'What the GPUs waited for'),
            table(
                ['Run', 'Setting up', 'Search', 'Final', 'Compilers busy', 'GPUs'],
                runs.map(run => [
                    moment(run.started),
                    duration(run.seconds?.setting_up),
                    duration(run.seconds?.search),
                    duration(run.seconds?.final),
                    percent(run.compilers_busy, 2),
                    limitOf(run),
                ]),
                'Runs and their limits'
            )
        );
    }
    if (workers.length) {
        parent.append(el('h3', {}, `Workers of the last run, on ${last.host ?? UNKNOWN}`));
        showWorkerTable(parent, workers);
    }
}
