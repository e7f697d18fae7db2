// Counters against time: any figure of the candidates against any other.

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
            'sweetspot doctor shows what is missing.'
        );
    const unit = i => points.units?.[i] ?? '';
    // Trials are numbered in the order in which they finished, so this axis shows a drift during the search.
    const options = [[columns.indexOf('trial'), 'trial'], ...usable].map(([i, name]) => [
        i,
        unit(i) ? `${name} (${unit(i)})` : name,
    ]);
    const first =
        FIRST_LOOKED_AT.map(name => columns.indexOf(name)).find(i => usable.some(([each]) => each === i)) ??
        usable.find(([i]) => i !== timeColumn)[0];
    const renew = () => {
        view = look();
        chart.renew();
    };
    const x = choice('Across', `${key}/x`, options, first, renew);
    const upwards = usable.some(([i]) => i === timeColumn) ? timeColumn : usable[0][0];
    const y = choice('Up', `${key}/y`, options, upwards, renew);
    // The rows that have both figures, and the units.
    const look = () => {
        const [a, b] = [Number(x.value()), Number(y.value())];
        const rows = points.rows
            .map((row, i) => ({row, i}))
            .filter(({row}) => known(row[a]) && known(row[b]));
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
        controls: [x.node, y.node],
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
            const {a, b, rows, across, up} = view,
                values = rows.map(({row}) => [row[a] * across.factor, row[b] * up.factor]);
            return {
                xAxis: axis(
                    values.map(([value]) => value),
                    {name: across.label}
                ),
                yAxis: axis(
                    values.map(([, value]) => value),
                    {name: up.label}
                ),
                series: [
                    {
                        type: 'scatter',
                        symbolSize: rows.length > 1000 ? 5 : 7,
                        itemStyle: {opacity: 0.5, color: palette().accent},
                        data: values,
                    },
                ],
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
