// The gates: how fast the kernel was compared with its earlier versions.

function showGates(parent, {gates}, job) {
    if (!gates?.length) {
        const command = `sweetspot gate ${fileOf(job)} --base main`;
        return `No gate has been run. A gate compares the kernel with an earlier version: ${command}`;
    }
    const rows = gates.flatMap(({when, base, device, driver, compiler, problems}) =>
        (problems ?? []).map(({problem, verdict, ratio: [value, low, high] = []}) => [
            el('td.interval', moment(when)),
            base ?? UNKNOWN,
            problem ?? UNKNOWN,
            verdict ?? UNKNOWN,
            plain(value, 5),
            el('td.interval', `${plain(low, 5)} to ${plain(high, 5)}`),
            [device, driver && `driver ${driver}`, compiler].filter(Boolean).join(' · '),
        ])
    );
    parent.append(
        table(
            ['When', 'Against', 'Problem', 'Result', 'Times as fast', '99% interval', 'GPU, driver, compiler'],
            rows,
            'The gates, the newest first'
        )
    );
}
