// Suites: jobs that differ by a size have a chart of the ratio against it.

// {M: 4096, ...} of "M=4096,N=4096", of the only tuned problem; null where there are several.
function sizesOf(result) {
    const tuned = (result.problems ?? []).filter(problem => problem.tuned);
    if (tuned.length !== 1) return null;
    const found = [...String(tuned[0].name).matchAll(/([A-Za-z_]\w*)\s*=\s*(\d+)/g)];
    return found.length ? Object.fromEntries(found.map(([, name, value]) => [name, Number(value)])) : null;
}

// Jobs whose names are alike but for the last number, on one device: {name, device, label, points: [{x, entry}]}. x is
// the size that differs, where one does or all that do are equal (M = N = K). The other jobs of the group, of odd
// shapes, are a suite of their own against the operations of the problem.
function suitesOf(entries) {
    const groups = new Map();
    for (const entry of entries) {
        const sizes = entry.result?.ratio && known(entry.result.ratio.value) && sizesOf(entry.result);
        if (!sizes) continue;
        const name = entry.job.name.replace(/\d+(x\d+)*(?!.*\d)/, '*');
        const key = JSON.stringify([name, entry.result.device, Object.keys(sizes)]);
        if (!groups.has(key)) groups.set(key, {name, device: entry.result.device, members: []});
        groups.get(key).members.push({entry, sizes});
    }
    return [...groups.values()]
        .flatMap(group => {
            const names = Object.keys(group.members[0].sizes);
            const differ = names.filter(name => new Set(group.members.map(({sizes}) => sizes[name])).size > 1);
            const agreed = ({sizes}) => new Set(differ.map(name => sizes[name])).size === 1;
            const flops = ({entry}) => entry.result.problems.find(problem => problem.tuned).flops;
            const suite = (members, label, x, connected) => ({
                ...group,
                label,
                connected,
                points: members
                    .map(member => ({entry: member.entry, x: x(member)}))
                    .filter(point => known(point.x) && point.x > 0)
                    .sort((a, b) => a.x - b.x),
            });
            return [
                suite(group.members.filter(agreed), differ.join(' = '), ({sizes}) => sizes[differ[0]], true),
                suite(
                    group.members.filter(member => !agreed(member)),
                    'operations of the problem',
                    flops,
                    false
                ),
            ];
        })
        .filter(({points}) => new Set(points.map(({x}) => x)).size >= 3);
}

function showSuites(main, entries) {
    for (const [i, suite] of suitesOf(entries).entries()) {
        if (!i) main.append(el('h2', {}, 'Ratio against size'));
        const ratio = ({entry}) => entry.result.ratio;
        figure(main, {
            id: `suite-${i}`,
            title: `${suite.name} on ${suite.device}: ratio to the faster library against ${suite.label}`,
            note: `One point for each job, with the interval of its final. Above 1 the tuned kernel is faster.`,
            height: 320,
            option: () => {
                const p = palette(),
                    colour = at => (ratio(suite.points[at]).value >= 1 ? p.accent : p.bad);
                const all = suite.points.flatMap(point => [ratio(point).low, ratio(point).value, ratio(point).high]);
                return {
                    xAxis: axis(
                        suite.points.map(({x}) => x),
                        {name: suite.label, log: true}
                    ),
                    yAxis: axis([...all, 1], {name: 'ratio (1: as fast as the library)'}),
                    tooltip: {
                        formatter: ({dataIndex}) => {
                            const {x, entry} = suite.points[dataIndex],
                                value = entry.result.ratio;
                            return tip(entry.job.name, [
                                [suite.label, compact(x)],
                                ['Ratio', times(value.value)],
                                ['Interval', `${times(value.low)} to ${times(value.high)}`],
                                ['Verdict', verdictWord(entry.result.verdict)],
                            ]);
                        },
                    },
                    series: [
                        {
                            type: 'line',
                            symbolSize: 8,
                            lineStyle: {color: p.muted, width: suite.connected ? 1 : 0, opacity: 0.5},
                            z: 2,
                            data: suite.points.map((point, at) => ({
                                value: [point.x, ratio(point).value],
                                itemStyle: {color: colour(at)},
                                symbol: 'circle',
                            })),
                            showSymbol: true,
                            markLine: rulers([ruler({yAxis: 1}, '', p.library)]),
                        },
                        whiskers(
                            suite.points.map(point => [point.x, ratio(point).low, ratio(point).high]),
                            colour
                        ),
                    ],
                };
            },
            ready: instance =>
                instance.on('click', ({dataIndex}) => {
                    location.hash = `#job/${suite.points[dataIndex].entry.at}`;
                }),
            figures: () => ({
                columns: ['Job', suite.label, 'Ratio', 'Low', 'High'],
                rows: suite.points.map(point => [
                    point.entry.job.name,
                    count(point.x),
                    times(ratio(point).value),
                    times(ratio(point).low),
                    times(ratio(point).high),
                ]),
            }),
        });
    }
}
