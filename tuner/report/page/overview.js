// The index: a row for each job and device.

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

// A bar from 1 to the ratio, with whiskers, on the logarithmic scale low..high. Drawn as SVG, a row at a time.
function ratioBar(ratio, low, high) {
    const at = value => 100 * Math.min(1, Math.max(0, logShare(value, low, high)));
    const shape = (tag, attributes) => {
        const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
        for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
        return node;
    };
    const line = (x1, y1, x2, y2, name) => shape('line', {x1: `${x1}%`, y1, x2: `${x2}%`, y2, class: name});
    const label = ratio ? `${times(ratio.value)}, between ${times(ratio.low)} and ${times(ratio.high)}` : 'no ratio';
    const svg = shape('svg', {class: 'ratio-bar', role: 'img', 'aria-label': label, height: 18, width: '100%'});
    svg.append(line(at(1), 0, at(1), 18, 'one'));
    if (!ratio || !known(ratio.value)) return svg;
    const from = at(Math.min(1, ratio.value)),
        to = at(Math.max(1, ratio.value));
    svg.append(
        shape('rect', {
            x: `${from}%`,
            y: 5,
            width: `${to - from}%`,
            height: 8,
            class: ratio.value >= 1 ? 'above' : 'below',
        })
    );
    if (known(ratio.low) && known(ratio.high)) {
        svg.append(
            line(at(ratio.low), 9, at(ratio.high), 9, 'whisker'),
            line(at(ratio.low), 5, at(ratio.low), 13, 'whisker'),
            line(at(ratio.high), 5, at(ratio.high), 13, 'whisker')
        );
    }
    return svg;
}

// Sorting compares numbers as numbers and puts unknown values last.
const COLUMNS = [
    {name: 'Job', key: entry => entry.job.name.toLowerCase()},
    {name: 'Against the library', key: entry => entry.result?.ratio?.value, down: true},
    {name: 'Ratio', key: entry => entry.result?.ratio?.value, down: true},
    {name: 'Verdict', key: entry => Object.keys(VERDICTS).indexOf(entry.result?.verdict)},
    {name: 'Best time', key: entry => entry.result?.winner?.time?.value ?? entry.result?.best?.time},
    {name: 'Evaluations', key: entry => entry.result?.evaluations, down: true},
    {name: 'Failures', key: entry => entry.result && failureCount(entry.result.counts), down: true},
    {name: 'When', key: entry => entry.result?.ended, down: true},
    {name: 'Device', key: entry => entry.result?.device},
];

function sortEntries(entries, column, down) {
    const key = COLUMNS[column].key;
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return entries
        .map(entry => [key(entry), entry])
        .sort(([a, x], [b, y]) => {
            if ((a ?? null) === null || (b ?? null) === null) return ((a ?? null) === null) - ((b ?? null) === null);
            return (down ? order(b, a) : order(a, b)) || x.at - y.at;
        })
        .map(([, entry]) => entry);
}

function overviewRow(entry, low, high) {
    const {job, at, result, index} = entry,
        cell = (name, attributes, ...children) => el('td', {'data-name': name, ...attributes}, children);
    const link = el('a', {href: `#job/${at}${index ? `/${index}` : ''}`}, job.name);
    const name = el(
        'th',
        {scope: 'row'},
        link,
        job.running ? el('span.badge.running', 'Running') : null,
        job.title ? el('small.title', {title: job.title}, job.title) : null
    );
    if (!result) {
        const why = job.error ?? `No trials yet. Run: sweetspot tune ${fileOf(job)}`;
        return el('tr', name, el('td', {colspan: COLUMNS.length - 1, class: job.error ? 'error' : 'muted'}, why));
    }
    const {ratio} = result,
        kinds = failureKinds(result.counts);
    const against = ratio?.against ? `The faster library is ${ratio.against}.` : null;
    return el(
        'tr',
        name,
        cell('Against the library', {class: 'bar', title: against}, ratioBar(ratio, low, high)),
        cell(
            'Ratio',
            {class: 'interval', title: against},
            ratio
                ? [el('b', times(ratio.value)), ' ', el('span.note', `${times(ratio.low)} to ${times(ratio.high)}`)]
                : UNKNOWN
        ),
        cell('Verdict', {}, badge(result.verdict)),
        cell('Best time', {class: 'number'}, time(result.winner?.time?.value ?? result.best?.time)),
        cell('Evaluations', {class: 'number'}, count(result.evaluations)),
        cell(
            'Failures',
            {class: 'failures'},
            count(failureCount(result.counts)),
            kinds.length ? el('span.note', ` ${kinds.map(([status, n]) => `${status} ${count(n)}`).join(', ')}`) : null
        ),
        cell(
            'When',
            {class: 'interval', title: moment(result.ended)},
            shortMoment(result.ended),
            result.replayed ? el('small', 'replayed') : null
        ),
        cell('Device', {}, result.device ?? UNKNOWN)
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

function showOverview(main, jobs) {
    const entries = overviewEntries(jobs);
    const ratios = entries
        .flatMap(({result}) =>
            result?.ratio ? knownOf([result.ratio.low, result.ratio.value, result.ratio.high]) : []
        )
        .filter(value => value > 0);
    const low = Math.min(0.9, least(ratios)) / 1.02,
        high = Math.max(1.1, most(ratios)) * 1.02;
    main.append(
        el('h1', jobs.length === 1 ? '1 job' : `${count(jobs.length)} jobs`),
        el('p.lead', entries.length ? `${verdictSummary(entries)}.` : '')
    );
    if (!jobs.length) {
        main.append(
            absent('This report has no jobs. Name jobs, folders or stores: sweetspot report configs/sgemm.cfg')
        );
        return;
    }

    let column = memory.get('sort') ?? -1,
        down = memory.get('down') ?? false;
    // What all have in common is said once, above.
    const devices = new Set(entries.filter(({result}) => result).map(({result}) => result.device));
    const titles = new Set(jobs.map(job => job.title ?? ''));
    const common = [...(devices.size === 1 ? devices : []), ...(titles.size === 1 ? titles : [])].filter(Boolean);
    if (common.length) main.append(el('p.note', common.join(' · ')));
    const body = el('tbody'),
        shown = el('p.note', {role: 'status'});
    const filter = el('input', {
        type: 'search',
        placeholder: 'Name, title or device',
        value: memory.get('filter') ?? '',
        oninput: () => {
            memory.set('filter', filter.value);
            fill();
        },
    });
    const verdicts = [['', 'All'], ...Object.entries(VERDICTS).map(([key, [word]]) => [key, word])];
    const verdict = choice('Verdict', 'verdict', verdicts, '', () => fill());
    const headers = COLUMNS.map((each, i) =>
        el(
            'th',
            {scope: 'col', title: each.title},
            el(
                'button',
                {
                    type: 'button',
                    onclick: () => {
                        down = column === i ? !down : Boolean(each.down);
                        column = i;
                        memory.set('sort', column);
                        memory.set('down', down);
                        fill();
                    },
                },
                each.name
            )
        )
    );
    function fill() {
        const text = filter.value.trim().toLowerCase();
        const matching = entries.filter(
            ({job, result}) =>
                (!verdict.value() || result?.verdict === verdict.value()) &&
                [job.name, job.title, result?.device].some(each => (each ?? '').toLowerCase().includes(text))
        );
        const sorted = column >= 0 ? sortEntries(matching, column, down) : matching;
        body.replaceChildren(...sorted.map(entry => overviewRow(entry, low, high)));
        headers.forEach((header, i) =>
            header.setAttribute('aria-sort', i !== column ? 'none' : down ? 'descending' : 'ascending')
        );
        shown.textContent = matching.length === entries.length ? '' : `${matching.length} of ${entries.length} rows`;
    }
    main.append(
        el('div.controls', labelled('Filter', filter), verdict.node, shown),
        el(
            'p.note',
            'Bars: time of the faster library over the winner’s time. Right of the line at 1 the ' +
                'tuned kernel is faster. Whiskers are the interval of the final’s paired ratios.'
        ),
        el(
            'div.scroll.wide',
            el(
                'table',
                {class: `overview${devices.size > 1 ? '' : ' one-device'}${titles.size > 1 ? '' : ' one-title'}`},
                el('thead', el('tr', headers)),
                body
            )
        )
    );
    fill();
}
