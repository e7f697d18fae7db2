// The effect of each parameter.

function showParameters(parent, result) {
    const parameters = (result.parameters ?? []).map((parameter, index) => ({...parameter, index}));
    if (!parameters.length) return 'The job has no parameters.';
    const all = parameters.flatMap(({by_value}) => (by_value ?? []).flatMap(each => [each.best, each.q1, each.q3]));
    if (!knownOf(all).length) return 'No candidate has a time, so the effect of the parameters is unknown.';
    parent.append(
        el(
            'p.note',
            'Times by value, the most important parameter first. Dot: the best candidate with this value. Box: the ' +
                'middle half of the candidates; the line in it is the median. All charts have the same scale. ' +
                `Importance: ${result.importance_method ?? UNKNOWN}.`
        )
    );
    const {edges, idle} = result.values ?? {};
    for (const text of [edges, idle]) if (text) parent.append(el('p', `${text[0].toUpperCase()}${text.slice(1)}.`));
    const grid = el('div.multiples');
    parent.append(grid);
    for (const parameter of parameters.toSorted((a, b) => (b.importance ?? -1) - (a.importance ?? -1)))
        parameterEffect(grid, parameter, all);
}

function parameterEffect(parent, parameter, all) {
    const {unit, factor} = timeUnit(all),
        values = parameter.by_value ?? [];
    const scaled = value => (known(value) ? value * factor : NaN);
    figure(parent, {
        id: `parameter-${parameter.index}`,
        title: parameter.name,
        height: 200,
        note: [
            `Importance ${percent(parameter.importance)}.`,
            parameter.grouped ? `Its ${count(parameter.grouped)} values are grouped.` : '',
        ].join(' '),
        label: `Best time and quartiles by value of ${parameter.name}`,
        option: () => {
            const p = palette();
            return {
                grid: {...GRID, top: 10},
                xAxis: categories(parameter.values),
                yAxis: axis(knownOf(all).map(scaled), {name: `time (${unit})`, splitNumber: 4}),
                series: [
                    {
                        type: 'custom',
                        encode: {x: 0, y: [1, 2, 3, 4]},
                        data: values.map((each, i) => [i, ...[each.q1, each.median, each.q3, each.best].map(scaled)]),
                        renderItem(params, api) {
                            const i = api.value(0),
                                half = Math.min(14, Math.max(0.5, api.size([1, 0])[0] * 0.3));
                            const [low, middle, high, best] = [1, 2, 3, 4].map(d => api.coord([i, api.value(d)])[1]);
                            const x = api.coord([i, api.value(4)])[0],
                                children = [];
                            if (Number.isFinite(low + high)) {
                                children.push({
                                    type: 'rect',
                                    shape: {x: x - half, y: high, width: 2 * half, height: Math.max(1, low - high)},
                                    style: {fill: p.pale},
                                });
                            }
                            if (Number.isFinite(middle)) {
                                children.push({
                                    type: 'line',
                                    style: {stroke: p.accent, lineWidth: 1.5},
                                    shape: {x1: x - half, x2: x + half, y1: middle, y2: middle},
                                });
                            }
                            if (Number.isFinite(best)) {
                                children.push({
                                    type: 'circle',
                                    shape: {cx: x, cy: best, r: Math.min(3.5, half + 1)},
                                    style: {fill: p.accent},
                                });
                            }
                            return {type: 'group', children};
                        },
                    },
                ],
            };
        },
        marks: () => values.length,
        about: i => [
            [parameter.name, String(parameter.values[i])],
            ['Best', time(values[i].best)],
            ['Median', time(values[i].median)],
            ['Middle half', `${time(values[i].q1)} to ${time(values[i].q3)}`],
            ['Candidates', `${count(values[i].n)}, with a time ${count(values[i].ok)}`],
        ],
    });
}
