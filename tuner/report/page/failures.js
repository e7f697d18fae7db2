// Candidates that failed: how many, why, and which values they share.

function showFailures(parent, result) {
    const failures = result.failures ?? [];
    if (!failures.length) return 'No candidate failed.';
    const share = ({parameter, value, of_failed, of_all}) =>
        el(
            'li',
            el('code', `${parameter}=${value}`),
            `: ${percent(of_failed, 2)} of these, ${percent(of_all, 2)} of all`
        );
    parent.append(
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
