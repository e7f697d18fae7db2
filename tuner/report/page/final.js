// The final, as a forest plot of paired ratios.

function showFinal(parent, result, job) {
    const {final} = result;
    if (!final)
        return (
            'There has been no final yet. It runs at the end of sweetspot tune ' +
            `${fileOf(job)}, when the search has ended.`
        );
    const entries = final.entries ?? [],
        shown = entries.filter(each => known(each.ratio?.value));
    const isLibrary = each => !each.config;
    const said = [
        [moment(final.when), number(final.rounds, 'round'), number(final.processes, 'process', 'processes')].join(', '),
    ];
    if (final.open)
        said.push(
            `${entries.length ? 'A later final' : 'The final'} did not decide${final.reason ? `: ${final.reason}` : ''}`
        );
    if (entries.length) said.push('Each candidate is compared with the winner, round by round');
    parent.append(
        el(
            'p',
            said.map(text => `${text}. `)
        )
    );
    if (!entries.length) return;
    const sorted = shown.toSorted((a, b) => a.ratio.value - b.ratio.value);
    const name = each => (each.winner ? `${each.name} (winner)` : each.tied ? `${each.name} (tie)` : each.name);
    if (sorted.length) {
        figure(parent, {
            id: 'final',
            title: 'Times in the final, relative to the winner',
            height: 60 + 26 * sorted.length,
            note:
                'The winner’s time is 1; further right is slower. Lines are intervals of paired ratios. In a tie, ' +
                'the candidate that uses the fewest resources wins.',
            option: () => {
                const p = palette(),
                    colour = i =>
                        isLibrary(sorted[i]) ? p.library : sorted[i].winner || sorted[i].tied ? p.accent : p.muted;
                return {
                    xAxis: axis([1, ...sorted.flatMap(({ratio}) => [ratio.low, ratio.value, ratio.high])], {
                        name: 'time over the winner’s time',
                        log: false,
                    }),
                    yAxis: categories(sorted.map(name), {
                        inverse: true,
                        label: {interval: 0, width: 150, overflow: 'truncate', color: p.ink},
                    }),
                    series: [
                        {
                            type: 'scatter',
                            symbolSize: each => each.size ?? 9,
                            z: 3,
                            data: sorted.map((each, i) => ({
                                value: [each.ratio.value, i],
                                symbol: isLibrary(each) ? 'diamond' : 'circle',
                                itemStyle: {color: colour(i)},
                            })),
                            markLine: rulers([ruler({xAxis: 1}, '', p.accent)]),
                        },
                        whiskers(
                            sorted.map(({ratio}, i) => [ratio.low, ratio.high, i]),
                            colour
                        ),
                    ],
                };
            },
            about: i => {
                const {ratio, time, config} = sorted[i];
                return [
                    ['Candidate', name(sorted[i])],
                    ['Ratio', `${ratio.value.toFixed(4)} (${plain(ratio.low, 5)} to ${plain(ratio.high, 5)})`],
                    ['Time', timeInterval(time)],
                    ['Configuration', isLibrary(sorted[i]) ? 'library' : configuration(config)],
                ];
            },
        });
    }
    const winner = entries.find(each => each.winner);
    const bytes = value => (known(value) ? `${count(value)} B` : UNKNOWN);
    const judged = each =>
        !each.ok
            ? el('td.error', `out: ${each.reason || 'failed'}`)
            : each.winner
              ? 'winner'
              : each.tied
                ? 'tie'
                : isLibrary(each)
                  ? 'library'
                  : 'slower';
    parent.append(
        table(
            [
                'Candidate',
                'Result',
                'Time',
                'Ratio',
                'Energy',
                'Registers',
                'Shared',
                'Spilled',
                'Code',
                'Occupancy',
                'Configuration',
            ],
            [...sorted, ...entries.filter(each => !shown.includes(each))].map(each => [
                each.name,
                judged(each),
                el('td.interval', timeInterval(each.time)),
                each.ratio ? (each.ratio.value?.toFixed(4) ?? UNKNOWN) : UNKNOWN,
                known(each.joules)
                    ? `${plain(each.joules, 4)} J${each.power_limited ? ', at the power limit' : ''}`
                    : UNKNOWN,
                count(each.registers),
                bytes(each.shared_bytes),
                bytes(each.spill_bytes),
                bytes(each.code_bytes),
                percent(each.occupancy),
                el(
                    'td.config',
                    isLibrary(each)
                        ? each.detail || UNKNOWN
                        : configuration(each.config, each.winner ? null : winner?.config)
                ),
            ]),
            'The final: times, ratios and resources'
        ),
        el('p.note', 'For other candidates, only differences from the winner’s configuration are shown.')
    );
}
