// The roofline: the candidates as a cloud below the ceilings of the device.

function showRoofline(parent, result) {
    const {roofline} = result,
        positive = ([x, y]) => known(x) && known(y) && x > 0 && y > 0;
    const points = (roofline?.points ?? []).filter(positive);
    const baselines = (roofline?.baselines ?? []).filter(({x, y}) => positive([x, y]));
    const peak = roofline?.flops_per_second,
        bandwidth = roofline?.bytes_per_second;
    const winner = roofline?.winner && positive(roofline.winner) ? roofline.winner : null;
    if (!points.length && !winner)
        return (
            'There is no roofline: it needs the job’s operations (work.flops), the traffic of device ' +
            'memory (counters) and the ceilings that the search measures.'
        );
    const all = [...points, ...baselines.map(({x, y}) => [x, y]), ...(winner ? [winner] : [])];
    const ridge = known(peak) && known(bandwidth) ? peak / bandwidth : null;
    const xs = [...all.map(([x]) => x), ...(ridge ? [ridge] : [])],
        left = least(xs) / 2,
        right = most(xs) * 2;
    const roof = ridge
        ? [
              [left, left * bandwidth],
              [ridge, peak],
              [right, peak],
          ]
        : [];
    const rate = value => `${compact(value)}op/s`;
    figure(parent, {
        id: 'roofline',
        title: `Roofline${roofline.problem ? ` of ${roofline.problem}` : ''}`,
        height: 400,
        note:
            `Ceilings measured on this device: ${
                known(peak) ? `${rate(peak)} (${roofline.pipe ?? 'arithmetic'})` : 'arithmetic unknown'
            }, ${known(bandwidth) ? `${compact(bandwidth)}B/s (memory)` : 'memory unknown'}. ` +
            `${number(points.length, 'candidate')}.`,
        option: () => {
            const p = palette(),
                ys = [...all.map(([, y]) => y), ...roof.map(([, y]) => y)];
            const dot = (name, data, colour, symbol, symbolSize, opacity) => ({
                type: 'scatter',
                name,
                data,
                symbol,
                symbolSize,
                itemStyle: {color: colour, opacity},
                z: opacity === 1 ? 4 : 2,
            });
            return {
                grid: {...GRID, top: 44},
                legend: {
                    top: 0,
                    left: 0,
                    itemWidth: 14,
                    data: ['Candidates', 'Winner', 'Library'],
                    textStyle: {color: p.ink},
                    selectedMode: false,
                },
                xAxis: axis(xs.concat([left, right]), {name: 'operations per byte of device memory', log: true}),
                yAxis: axis(ys, {name: 'operations a second', log: true}),
                tooltip: {
                    formatter: ({seriesName, data}) =>
                        tip(data[2] !== undefined && data[2] !== null ? `${seriesName} ${data[2]}` : seriesName, [
                            ['Operations a second', rate(data[1])],
                            ['Operations per byte', plain(data[0])],
                            ridge
                                ? ['Of the roof', percent(data[1] / Math.min(peak, data[0] * bandwidth))]
                                : ['', null],
                        ]),
                },
                series: [
                    ...(roof.length
                        ? [
                              {
                                  type: 'line',
                                  name: 'Ceilings',
                                  data: roof,
                                  symbol: 'none',
                                  silent: true,
                                  tooltip: {show: false},
                                  itemStyle: {color: p.ink},
                                  lineStyle: {color: p.ink, width: 1.5},
                                  z: 3,
                              },
                          ]
                        : []),
                    dot('Candidates', points, p.accent, 'circle', 5, 0.35),
                    ...(winner ? [dot('Winner', [winner], p.good, 'circle', 11, 1)] : []),
                    ...(baselines.length
                        ? [
                              dot(
                                  'Library',
                                  baselines.map(({name, x, y}) => [x, y, name]),
                                  p.library,
                                  'diamond',
                                  12,
                                  1
                              ),
                          ]
                        : []),
                ],
            };
        },
        figures: () => ({
            columns: ['What', 'Operations per byte', 'Operations a second', 'Of the roof'],
            rows: [
                ...(winner ? [['Winner', ...winner]] : []),
                ...baselines.map(({name, x, y}) => [name, x, y]),
                ...points.toSorted((a, b) => b[1] - a[1]).map(([x, y, trial]) => [`Trial ${trial ?? UNKNOWN}`, x, y]),
            ].map(([what, x, y]) => [
                what,
                plain(x),
                rate(y),
                ridge ? percent(y / Math.min(peak, x * bandwidth)) : UNKNOWN,
            ]),
        }),
    });
}
