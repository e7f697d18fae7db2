// The progress of the search.

// The label of a library's line: libraries whose times are within `near` share one label, at the slowest library's
// line.
const libraryLabel = (baselines, near) => each => {
    const close = baselines.filter(other => Math.abs(other.time - each.time) < near);
    if (close.some(other => other.time > each.time)) return '';
    return close
        .sort((a, b) => b.time - a.time)
        .map(other => `${other.name} ${time(other.time)}`)
        .join('\n');
};

function showProgress(parent, result, job) {
    const rows = (result.progress?.rows ?? []).filter(row => known(row[2]));
    if (!rows.length)
        return result.evaluations > 0 && result.failures?.length
            ? `None of ${number(result.evaluations, 'candidate')} has a time; the section Failures says why.`
            : `No candidate has been timed yet. Run: sweetspot tune ${fileOf(job)}`;
    const runs = result.runs ?? [];
    const hours = rows.at(-1)[0] >= 7200,
        minutes = rows.at(-1)[0] >= 300;
    const [unit, size] = hours ? ['hours', 3600] : minutes ? ['minutes', 60] : ['seconds', 1];
    const renew = () => chart.renew();
    const measures = {time: 'time of search', evaluations: 'evaluations'};
    const by = choice('Against', 'progress', measures, 'time', renew);
    const chart = figure(parent, {
        id: 'progress',
        title: 'Best time so far',
        controls: [by.node],
        height: 340,
        note: 'Every new best is shown. Horizontal lines: the libraries. Dashed vertical lines: the start of a run.',
        option: () => {
            const p = palette(),
                evaluations = by.value() === 'evaluations';
            const x = row => (evaluations ? row[1] : row[0] / size);
            const baselines = (result.baselines ?? []).filter(each => known(each.time));
            const all = [...rows.map(row => row[2]), ...baselines.map(each => each.time)],
                y = timeUnit(all);
            const label = libraryLabel(baselines, 0.05 * (most(all) - least(all)));
            return {
                grid: {...GRID, right: 116},
                xAxis: axis(rows.map(x), {
                    log: false,
                    zero: true,
                    splitLine: {show: false},
                    name: evaluations ? 'evaluations' : `time of search (${unit})`,
                }),
                yAxis: axis(
                    all.map(value => value * y.factor),
                    {name: `time (${y.unit})`}
                ),
                tooltip: {
                    trigger: 'axis',
                    axisPointer: {type: 'line', lineStyle: {color: p.muted}},
                },
                series: [
                    {
                        type: 'line',
                        step: 'end',
                        data: rows.map(row => [x(row), row[2] * y.factor]),
                        symbol: 'circle',
                        symbolSize: rows.length > 80 ? 3 : 5,
                        showAllSymbol: true,
                        lineStyle: {width: 2, color: p.accent},
                        itemStyle: {color: p.accent},
                        markLine: rulers([
                            ...baselines.map(each =>
                                ruler({yAxis: each.time * y.factor}, label(each), p.library, 'end')
                            ),
                            ...runs
                                .slice(1)
                                .map((run, i) =>
                                    ruler(
                                        {xAxis: evaluations ? run.evaluations_before : run.at / size},
                                        runs.length < 12 ? `run ${i + 2}` : '',
                                        p.muted,
                                        'insideEndTop'
                                    )
                                )
                                .filter(({xAxis}) => known(xAxis)),
                        ]),
                    },
                ],
            };
        },
        marks: () => rows.length,
        about: i => [
            ['Best time', time(rows[i][2])],
            ['Trial', known(rows[i][3]) ? count(rows[i][3]) : UNKNOWN],
            ['After', duration(rows[i][0])],
            ['Evaluations', count(rows[i][1])],
        ],
    });
}
