// The best time of each pair of values, for two parameters that the reader chooses; at first the two most important.

// Candidates by pair of values: [x, y, best time, candidates], only pairs that have a time.
function pairCells(trials, a, b) {
    const cells = new Map();
    trials.trial.forEach((_, i) => {
        const [x, y] = [trials.values[a][i], trials.values[b][i]],
            key = `${x},${y}`;
        if (!cells.has(key)) cells.set(key, [x, y, Infinity, 0]);
        const cell = cells.get(key);
        cell[3]++;
        if (trials.time[i] > 0) cell[2] = Math.min(cell[2], trials.time[i]);
    });
    return [...cells.values()].filter(cell => known(cell[2]));
}

function showPair(parent, result, job, key) {
    const {trials} = result;
    const several = (result.parameters ?? [])
        .map((each, i) => ({...each, i}))
        .filter(each => each.values.length > 1)
        .toSorted((a, b) => (b.importance ?? -1) - (a.importance ?? -1));
    if (several.length < 2 || !trials?.time.some(each => each > 0))
        return 'This needs two parameters with several values, and candidates with a time.';
    const options = several.map(each => [each.i, each.name]),
        renew = () => {
            view = look();
            chart.renew();
        };
    const x = choice('Across', `${key}/pair-x`, options, several[0].i, renew),
        y = choice('Up', `${key}/pair-y`, options, several[1].i, renew);
    const look = () => {
        const [a, b] = [x, y].map(each => Number(each.value())),
            cells = pairCells(trials, a, b);
        return {across: result.parameters[a], up: result.parameters[b], cells, ...timeUnit(cells.map(cell => cell[2]))};
    };
    let view = look();
    const chart = figure(parent, {
        id: 'pair',
        title: 'Best time of each pair of values',
        height: 480,
        controls: [x.node, y.node],
        renewed: () => `In ${view.unit}. The stronger the colour, the faster. Empty: no candidate has a time there.`,
        option: () => {
            const p = palette(),
                {across, up, cells, factor} = view,
                all = cells.map(cell => cell[2]);
            const share = value => 1 - logShare(value, least(all), most(all));
            return {
                xAxis: categories(across.values, {name: across.name}),
                yAxis: categories(up.values, {name: up.name}),
                visualMap: {show: false, min: 0, max: 1, inRange: {color: [p.pale, p.accent]}},
                series: [
                    {
                        type: 'heatmap',
                        progressive: 0,
                        itemStyle: {borderWidth: 1, borderColor: p.page},
                        label: {
                            show: across.values.length <= 16 && cells.length <= 200,
                            formatter: ({dataIndex}) => plain(cells[dataIndex][2] * factor, 3),
                        },
                        data: cells.map(([i, j, best]) => ({
                            value: [i, j, share(best)],
                            label: {color: share(best) > 0.55 ? p.surface : p.ink},
                        })),
                    },
                ],
            };
        },
        marks: () => view.cells.length,
        about: k => {
            const {across, up, cells} = view,
                [i, j, best, n] = cells[k];
            return [
                [across.name, String(across.values[i])],
                [up.name, String(up.values[j])],
                ['Best', time(best)],
                ['Candidates', count(n)],
            ];
        },
    });
}
