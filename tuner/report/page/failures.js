// Candidates that failed: how many, why, and which values they share.

function showFailures(parent, result) {
    const failures = result.failures ?? [];
    if (!failures.length) return 'No candidate failed.';
    const sums = new Map();
    for (const each of failures) sums.set(each.status, (sums.get(each.status) ?? 0) + each.count);
    const rows = [...sums].sort(([, a], [, b]) => b - a);
    figure(parent, {
        id: 'failures',
        title: 'Candidates that failed, by status',
        height: 50 + 26 * rows.length,
        option: () =>
            bars(
                rows.map(([status]) => status),
                rows.map(([, n]) => n),
                {
                    name: 'candidates',
                    width: 14,
                    colour: palette().bad,
                    content: i =>
                        tip(rows[i][0], [
                            ['Candidates', count(rows[i][1])],
                            ['Reasons', count(failures.filter(each => each.status === rows[i][0]).length)],
                        ]),
                    label: {
                        show: true,
                        position: 'right',
                        formatter: ({value}) => count(value),
                        color: palette().muted,
                    },
                }
            ),
    });
    const share = ({parameter, value, of_failed, of_all}) =>
        el(
            'li',
            el('code', `${parameter}=${value}`),
            `: ${percent(of_failed, 2)} of these, ${percent(of_all, 2)} of all`
        );
    parent.append(
        el('h3', 'Reasons, and the values that their candidates share'),
        table(
            ['Status', 'Reason', 'Candidates', 'Trials', 'More often than elsewhere'],
            failures.map(each => [
                each.status,
                each.reason || UNKNOWN,
                count(each.count),
                el('td.number', (each.trials ?? []).join(', ')),
                (each.shares ?? []).length ? el('ul.plain', each.shares.map(share)) : UNKNOWN,
            ]),
            'Failures by status and reason'
        )
    );
}
