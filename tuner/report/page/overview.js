// The index: a row for each job and device, in a table by DataTables, which sorts and searches it.

// One entry for each job and device: its newest result.
function overviewEntries(jobs) {
    return jobs.flatMap((job, at) => {
        const seen = new Set(),
            entries = [];
        (job.results ?? []).forEach((result, index) => {
            if (seen.has(result.device)) return;
            seen.add(result.device);
            entries.push({job, at, result, index});
        });
        return entries.length ? entries : [{job, at, result: null, index: 0}];
    });
}

const bestTime = ({winner, best}) => winner?.time?.value ?? best?.time;

function jobCell({job, at, result, index}) {
    const why = result ? null : (job.error ?? `No trials yet. Run: sweetspot tune ${fileOf(job)}`);
    return [
        el('a', {href: `#job/${at}${index ? `/${index}` : ''}`}, job.name),
        job.running ? el('span.badge.running', 'Running') : null,
        job.title ? el('small.title', {title: job.title}, job.title) : null,
        why ? el('small', {class: job.error ? 'error' : 'muted'}, why) : null,
    ];
}

function failuresCell({counts}) {
    const kinds = failureKinds(counts).map(([status, n]) => `${status} ${count(n)}`);
    return [count(failureCount(counts)), kinds.length ? el('span.note', ` ${kinds.join(', ')}`) : null];
}

function ratioCell({ratio}) {
    return ratio
        ? [el('b', times(ratio.value)), ' ', el('span.note', `${times(ratio.low)} to ${times(ratio.high)}`)]
        : UNKNOWN;
}

// The columns: what each one shows of a result, and its sort key, a number or a string. down: the greatest come first.
const COLUMNS = [
    {name: 'Job', texts: true},
    {name: 'Ratio', class: 'interval', key: ({ratio}) => ratio?.value, down: true, show: ratioCell},
    {
        name: 'Verdict',
        key: ({verdict}) => Object.keys(VERDICTS).indexOf(verdict),
        show: ({verdict}) => badge(verdict),
    },
    {name: 'Best time', class: 'number', key: bestTime, show: result => time(bestTime(result))},
    {
        name: 'Evaluations',
        class: 'number',
        key: ({evaluations}) => evaluations,
        down: true,
        show: ({evaluations}) => count(evaluations),
    },
    {name: 'Failures', class: 'failures', key: ({counts}) => failureCount(counts), down: true, show: failuresCell},
    {
        name: 'When',
        class: 'interval',
        key: ({ended}) => ended,
        down: true,
        show: ({ended, replayed}) => [shortMoment(ended), replayed ? el('small', 'replayed') : null],
    },
    {name: 'Device', texts: true, key: ({device}) => device, show: ({device}) => device ?? UNKNOWN},
];

// Unknown values are sorted last.
function overviewRow(entry) {
    const {job, result} = entry;
    return el(
        'tr',
        el('th', {scope: 'row', 'data-order': job.name.toLowerCase()}, jobCell(entry)),
        COLUMNS.slice(1).map(each =>
            el(
                'td',
                {
                    class: each.class,
                    'data-name': each.name,
                    'data-order': String((result && each.key(result)) ?? (each.down ? -1 : Infinity)),
                },
                result ? each.show(result) : UNKNOWN
            )
        )
    );
}

// "20 faster, 12 tie", in the order of VERDICTS.
function verdictSummary(entries) {
    const parts = Object.entries(VERDICTS).map(([verdict, [word, , summary]]) => [
        summary ?? word.toLowerCase(),
        entries.filter(entry => entry.result?.verdict === verdict).length,
    ]);
    const rest = entries.filter(entry => !entry.result).length;
    return [...parts, ['without trials', rest]]
        .filter(([, n]) => n)
        .map(([word, n]) => `${n} ${word}`)
        .join(', ');
}

// The index's elements, which are made once, so that the index stays as the reader left it.
function overview(jobs) {
    const entries = overviewEntries(jobs);
    const head = [
        el('h1', jobs.length === 1 ? '1 job' : `${count(jobs.length)} jobs`),
        el('p.lead', entries.length ? `${verdictSummary(entries)}.` : ''),
    ];
    if (!jobs.length)
        return [
            ...head,
            absent('This report has no jobs. Name jobs, folders or stores: sweetspot report configs/sgemm.cfg'),
        ];
    // Facts that all entries have in common are stated once, above.
    const devices = new Set(entries.filter(({result}) => result).map(({result}) => result.device));
    const titles = new Set(jobs.map(job => job.title ?? ''));
    const common = [...(devices.size === 1 ? devices : []), ...(titles.size === 1 ? titles : [])].filter(Boolean);
    const node = el(
        'table',
        {class: `overview${devices.size > 1 ? '' : ' one-device'}${titles.size > 1 ? '' : ' one-title'}`},
        el('thead', el('tr', COLUMNS.map(each => el('th', {scope: 'col'}, each.name)))),
        el('tbody', entries.map(overviewRow))
    );
    const box = el('div.scroll', node);
    new DataTable(node, {
        paging: false,
        order: [],
        columns: COLUMNS.map(each => ({
            type: each.texts ? 'string' : 'num',
            orderSequence: each.down ? ['desc', 'asc'] : ['asc', 'desc'],
        })),
        autoWidth: false,
        orderClasses: false,
        language: {search: 'Search', info: '', infoFiltered: '_TOTAL_ of _MAX_ rows', infoEmpty: ''},
    });
    return [
        ...head,
        common.length ? el('p.note', common.join(' · ')) : '',
        el(
            'p.note',
            'Ratio: time of the faster library over the winner’s time, with the interval of the final’s paired ' +
                'ratios. Above 1 the tuned kernel is faster.'
        ),
        box,
    ];
}
