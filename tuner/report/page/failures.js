// Candidates that failed: how many, and why.

function showFailures(parent, result) {
    const failures = result.failures ?? [];
    if (!failures.length) return 'No candidate failed.';
    parent.append(
        table(
            ['Status', 'Reason', 'Candidates', 'Trials'],
            failures.map(each => [
                each.status,
                each.reason || UNKNOWN,
                count(each.count),
                el('td.number', (each.trials ?? []).join(', ')),
            ]),
            'Failures by status and reason'
        )
    );
}
