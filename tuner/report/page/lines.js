// Parallel coordinates: an axis for each parameter and one for the time, a line for each candidate. A range is selected
// by drawing along an axis, or with the two lists above the chart.
// Lines through one value are spread a little, so that one sees how many they are: evenly, by the golden ratio.
const spread = (line, axis) => 0.36 * (((line * 0.618034 + axis * 0.37) % 1) - 0.5);

function showLines(parent, result) {
    const {lines} = result,
        parameters = result.parameters ?? [];
    const rows = (lines?.rows ?? [])
        .filter(row => known(row.at(-1)) && row.at(-1) > 0)
        .sort((a, b) => b.at(-1) - a.at(-1)); // the fastest are drawn last, above the others
    if (!rows.length) return 'No candidate has a time, so there are no lines to draw.';
    const all = rows.map(row => row.at(-1)),
        {unit, factor} = timeUnit(all),
        last = parameters.length;
    const said = el('p.note', {role: 'status', id: 'selected'}),
        found = el('div');
    const stated =
        lines.shown < lines.of
            ? `${number(rows.length, 'line')} of ${count(lines.of)} candidates: the best ${count(
                  lines.best
              )}, and a sample of the others (seed ${lines.seed}).`
            : `${number(rows.length, 'line')}, all candidates.`;
    let selected = rows.map((_, i) => i);
    const say = () => {
        const fastest = selected.length ? least(selected.map(i => all[i])) : NaN;
        said.textContent =
            selected.length === rows.length
                ? `${stated} Draw along an axis to select.`
                : `${count(selected.length)} of ${number(rows.length, 'line')} selected${
                      known(fastest) ? `; the fastest takes ${time(fastest)}` : ''
                  }.`;
        const top = selected.slice(-5).reverse();
        found.replaceChildren(
            table(
                ['Trial', 'Time', ...parameters.map(each => each.name)],
                top.map(i => [
                    String(rows[i][0]),
                    time(all[i]),
                    ...parameters.map((each, k) => valueOf(each, rows[i][k + 1])),
                ]),
                'The five fastest of the selected candidates'
            )
        );
    };
    const value = el('select', {'data-choice': 'brush-value', onchange: () => select()});
    const which = el(
        'select',
        {'data-choice': 'brush-parameter', onchange: () => offer()},
        el('option', {value: ''}, 'all'),
        parameters.map((each, i) => el('option', {value: i}, each.name))
    );
    value.disabled = true;
    function offer() {
        value.replaceChildren(
            ...(parameters[which.value]?.values ?? []).map((each, i) => el('option', {value: i}, each))
        );
        value.disabled = which.value === '';
        select();
    }
    function select() {
        chart.draw();
        for (let i = 0; i <= last; i++) {
            const at = Number(value.value),
                chosen = which.value !== '' && i === Number(which.value);
            chart.instance.dispatchAction({
                type: 'axisAreaSelect',
                parallelAxisId: `axis-${i}`,
                intervals: chosen ? [[at - 0.4, at + 0.4]] : [],
            });
        }
    }
    const chart = figure(parent, {
        id: 'lines',
        title: 'Every parameter and the time of each candidate',
        height: 380,
        width: Math.max(300, 84 * (last + 1)),
        controls: [
            labelled('Select', which),
            labelled('with value', value),
            el(
                'button',
                {
                    type: 'button',
                    onclick: () => {
                        which.value = '';
                        offer();
                    },
                },
                'Select all'
            ),
        ],
        after: el('div', said, found),
        option: () => {
            const p = palette();
            const name = (text, i) => (i % 2 ? text : `${text}\n `); // neighbours' names at two heights
            const common = {
                nameTextStyle: {color: p.muted, fontSize: 11, lineHeight: 16},
                nameLocation: 'end',
                nameGap: 8,
                nameTruncate: {maxWidth: 160},
                axisLine: {lineStyle: {color: p.muted}},
                axisTick: {show: false},
            };
            const seconds = axis(all.map(each => each * factor));
            // The places of values along an axis, and which of them have a label.
            const places = values => {
                const every = Math.ceil(values.length / 20);
                return {
                    type: 'value',
                    min: -0.5,
                    max: values.length - 0.5,
                    splitLine: {show: false},
                    axisLabel: {
                        color: p.ink,
                        fontSize: 11,
                        backgroundColor: `${p.page}cc`,
                        padding: [1, 3],
                        customValues: values.map((_, at) => at).filter(at => at % every === 0),
                        formatter: at => String(values[at]),
                    },
                };
            };
            return {
                parallel: {
                    left: 40,
                    right: 60,
                    top: 56,
                    bottom: 16,
                    parallelAxisDefault: {
                        realtime: false,
                        areaSelectStyle: {width: 18, color: p.accent, opacity: 0.25, borderColor: p.accent},
                    },
                },
                parallelAxis: [
                    ...parameters.map((each, dim) => ({
                        ...common,
                        dim,
                        id: `axis-${dim}`,
                        ...places(each.values),
                        name: name(each.name, dim),
                    })),
                    {...seconds, ...common, dim: last, id: `axis-${last}`, name: name(`time (${unit})`, last)},
                ],
                tooltip: hover(i =>
                    tip(time(all[i]), [['Trial', String(rows[i][0])], ...namedValues(parameters, k => rows[i][k + 1])])
                ),
                series: [
                    {
                        type: 'parallel',
                        inactiveOpacity: 0.03,
                        activeOpacity: 0.9,
                        progressive: 0,
                        lineStyle: {width: 1, opacity: 0.5},
                        data: rows.map((row, i) => {
                            const share = rows.length > 1 ? i / (rows.length - 1) : 1; // the fastest is the last
                            return {
                                value: [
                                    ...row
                                        .slice(1, -1)
                                        .map((at, k) =>
                                            parameters[k].values[at] === undefined ? '-' : at + spread(i, k)
                                        ),
                                    all[i] * factor,
                                ],
                                lineStyle: {color: mix(p.pale, p.accent, share ** 3)},
                            };
                        }),
                    },
                ],
            };
        },
        again: () => select(), // the areas are gone
        ready: instance =>
            instance.on('axisareaselected', () => {
                const series = instance.getModel().getSeriesByIndex(0);
                const brushed = instance.getModel().getComponent('parallel').coordinateSystem.hasAxisBrushed();
                selected = brushed ? series.getRawIndicesByActiveState('active') : rows.map((_, i) => i);
                say();
            }),
        figures: () => ({
            columns: ['Trial', ...parameters.map(each => each.name), 'Time'],
            rows: rows
                .toReversed()
                .map(row => [
                    String(row[0]),
                    ...row.slice(1, -1).map((at, k) => valueOf(parameters[k], at)),
                    time(row.at(-1)),
                ]),
        }),
    });
    say();
}
