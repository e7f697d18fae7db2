// Counters against time: any figure of the candidates against any other.

const MOST_COLOURS = 8; // of values in the legend
const FIRST_LOOKED_AT = ['icache_misses', 'occupancy', 'theoretical_occupancy', 'registers'];

function showCounters(parent, result, job, key) {
    const points = result.points,
        columns = points?.columns ?? [],
        parameters = result.parameters ?? [];
    const usable = columns
        .map((name, i) => [i, name])
        .filter(([i, name]) => name !== 'trial' && points.rows.some(row => known(row[i])));
    const timeColumn = columns.indexOf('time');
    if (usable.length < 2)
        return (
            'The candidates have no counters. They are read where the driver permits it; ' +
            'sweetspot doctor says what is missing.'
        );
    const unit = i => points.units?.[i] ?? '';
    // The numbers of trials are in the order in which they finished: whether a figure drifts during the search.
    const options = [[columns.indexOf('trial'), 'trial'], ...usable].map(([i, name]) => [
        i,
        unit(i) ? `${name} (${unit(i)})` : name,
    ]);
    const first =
        FIRST_LOOKED_AT.map(name => columns.indexOf(name)).find(i => usable.some(([each]) => each === i)) ??
        usable.find(([i]) => i !== timeColumn)[0];
    const strongest = parameters.reduce(
        (best, each, i) => ((each.importance ?? -1) > (parameters[best]?.importance ?? -1) ? i : best),
        -1
    );
    const renew = () => {
        view = look();
        chart.renew();
    };
    const x = choice('Across', `${key}/x`, options, first, renew);
    const upwards = usable.some(([i]) => i === timeColumn) ? timeColumn : usable[0][0];
    const y = choice('Up', `${key}/y`, options, upwards, renew);
    const names = [['', 'none'], ...parameters.map((each, i) => [i, each.name])];
    const colour = choice('Colour', `${key}/colour`, names, strongest < 0 ? '' : strongest, renew);
    // The rows that have both figures, and the units.
    const look = () => {
        const [a, b] = [Number(x.value()), Number(y.value())];
        const rows = points.rows
            .map((row, i) => ({row, i}))
            .filter(({row}) => known(row[a]) && known(row[b]))
            .map((each, mark) => ({...each, mark}));
        const inUnit = column => {
            if (unit(column) !== 's')
                return {factor: 1, label: unit(column) ? `${columns[column]} (${unit(column)})` : columns[column]};
            const found = timeUnit(rows.map(({row}) => row[column]));
            return {factor: found.factor, label: `${columns[column]} (${found.unit})`};
        };
        return {a, b, rows, across: inUnit(a), up: inUnit(b)};
    };
    const shown = (column, value) => (unit(column) === 's' ? time(value) : `${compact(value)} ${unit(column)}`.trim());
    let view = look();
    const chart = figure(parent, {
        id: 'counters',
        title: 'Counters against time',
        height: 420,
        controls: [x.node, y.node, colour.node],
        renewed: () => {
            const {a, b, rows} = view;
            const meaning = [a, b]
                .filter(i => i !== timeColumn && points.meanings?.[i])
                .map(i => `${columns[i]}: ${points.meanings[i]}.`)
                .join(' ');
            const held = points.shown < points.of ? ` (${count(points.shown)} are in this page)` : '';
            const both = `${number(rows.length, 'candidate')} of ${count(points.of)} with both figures`;
            return `${both}${held}. ${meaning}`;
        },
        option: () => {
            const p = palette(),
                {a, b, rows, across, up} = view,
                parameter = parameters[colour.value()];
            const at = i => points.values?.[i]?.[Number(colour.value())],
                data = ({row, i, mark}) => ({
                    value: [row[a] * across.factor, row[b] * up.factor, at(i) ?? 0],
                    i: mark,
                });
            const dots = {type: 'scatter', symbolSize: rows.length > 1000 ? 5 : 7, itemStyle: {opacity: 0.6}};
            let series = [{...dots, data: rows.map(data), itemStyle: {opacity: 0.5, color: p.accent}}],
                legend;
            if (parameter && parameter.values.length <= MOST_COLOURS) {
                series = parameter.values.map((value, k) => ({
                    ...dots,
                    name: `${parameter.name} = ${value}`,
                    itemStyle: {opacity: 0.6, color: p.series[k]},
                    data: rows.filter(({i}) => at(i) === k).map(data),
                }));
                legend = {
                    type: 'scroll',
                    top: 0,
                    left: 0,
                    icon: 'circle',
                    itemWidth: 10,
                    textStyle: {color: p.ink},
                    pageTextStyle: {color: p.ink},
                };
            }
            return {
                grid: {...GRID, top: legend ? 44 : 20},
                legend,
                // More values than that are shades.
                visualMap:
                    parameter && !legend
                        ? {
                              show: false,
                              dimension: 2,
                              max: parameter.values.length - 1,
                              inRange: {color: [p.pale, p.accent]},
                          }
                        : undefined,
                xAxis: axis(
                    rows.map(({row}) => row[a] * across.factor),
                    {name: across.label}
                ),
                yAxis: axis(
                    rows.map(({row}) => row[b] * up.factor),
                    {name: up.label}
                ),
                series,
            };
        },
        marks: () => view.rows.length,
        about: mark => {
            const {a, b, rows} = view,
                {row, i} = rows[mark];
            return [
                ['Trial', String(row[columns.indexOf('trial')] ?? UNKNOWN)],
                ...[...new Set([a, b])].map(column => [columns[column], shown(column, row[column])]),
                ...namedValues(parameters, k => points.values?.[i]?.[k]),
            ];
        },
    });
}
