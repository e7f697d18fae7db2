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
    const open = `${entries.length ? 'A later final' : 'The final'} did not decide`;
    const said = [
        [
            moment(final.when),
            known(final.rounds) ? number(final.rounds, 'round') : null,
            known(final.processes) ? number(final.processes, 'process', 'processes') : null,
        ],
        final.open ? [open, final.reason] : [],
        entries.length ? ['Each candidate is compared with the winner, round by round'] : [],
    ];
    const sentences = said.map(parts => parts.filter(Boolean).join(parts[0] === open ? ': ' : ', '));
    parent.append(
        el(
            'p',
            sentences.filter(Boolean).map(text => `${text}. `)
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
                'The winner’s time is 1; further right is slower. Lines are intervals of paired ratios. Of ties, ' +
                'the one that uses the fewest resources wins.',
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
                    tooltip: hover(i =>
                        tip(name(sorted[i]), [
                            [
                                'Ratio',
                                `${sorted[i].ratio.value.toFixed(4)} (${plain(sorted[i].ratio.low, 5)} to ${plain(
                                    sorted[i].ratio.high,
                                    5
                                )})`,
                            ],
                            ['Time', timeInterval(sorted[i].time)],
                            ['Configuration', isLibrary(sorted[i]) ? 'library' : configuration(sorted[i].config)],
                        ])
                    ),
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
                            colour,
                            true
                        ),
                    ],
                };
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
                count(each.registers),
                bytes(each.shared_bytes),
                bytes(each.spill_bytes),
                bytes(each.code_bytes),
                percent(each.occupancy),
                el(
                    'td.config',
                    isLibrary(each) ? UNKNOWN : configuration(each.config, each.winner ? null : winner?.config)
                ),
            ]),
            'The final: times, ratios and resources'
        ),
        el('p.note', 'Of the other candidates’ configurations, what differs from the winner’s.')
    );
}
