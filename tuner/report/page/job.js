// One job: its head, and a section for each question. A section's function returns the reason if it has nothing to
// show.

const SECTIONS = [
    {id: 'progress', title: 'Progress', show: showProgress},
    {id: 'parameters', title: 'Parameters', show: showParameters},
    {id: 'pair', title: 'Two parameters together', short: 'Two parameters', show: showPair},
    {id: 'trials', title: 'All trials', short: 'Trials', show: showTrials},
    {id: 'failures', title: 'Failures', show: showFailures},
    {id: 'counters', title: 'Counters', show: showCounters},
    {id: 'final', title: 'The final', short: 'Final', show: showFinal},
    {id: 'gates', title: 'Gates', show: showGates},
    {id: 'limits', title: 'What limits the kernel', short: 'Limits', show: showLimits},
    {id: 'reproduce', title: 'How to reproduce', short: 'Reproduce', show: showReproduce},
];

const environmentName = result =>
    [
        result.device ?? 'unknown device',
        result.driver && `driver ${result.driver}`,
        result.source_hash && `source ${String(result.source_hash).slice(0, 8)}`,
        moment(result.ended),
        result.current ? 'current' : null,
    ]
        .filter(Boolean)
        .join(' · ');

// A figure in large type, with details below it.
const large = (value, below, ...more) =>
    el('span', value ? el('b', value) : null, ' ', more, below ? el('small', below) : null);

function keyFigures(result) {
    const {ratio, winner, best} = result;
    const won = winner?.time,
        ties = winner?.ties ? `, ${number(winner.ties, 'tie')}` : '';
    const kinds = failureKinds(result.counts).map(([status, n]) => `${status} ${count(n)}`);
    const space = known(result.space)
        ? `of ${count(result.space)} configurations`
        : 'the size of the space is not known';
    const interval = ratio ? `${times(ratio.low)} to ${times(ratio.high)}` : null;
    return pairs(
        [
            [
                `Against ${ratio?.against ?? 'the library'}`,
                large(ratio && times(ratio.value), interval, badge(result.verdict)),
            ],
            winner
                ? [
                      'Winner',
                      large(
                          time(won?.value),
                          `trial ${winner.trial ?? UNKNOWN}, ${time(won?.low)} to ${time(won?.high)}${ties}`
                      ),
                  ]
                : [
                      'Best of the search',
                      large(time(best?.time), best && `trial ${best.trial ?? UNKNOWN}, not confirmed by a final`),
                  ],
            ['Evaluations', large(count(result.evaluations), space)],
            ['Time of search', large(duration(result.seconds), number(result.runs?.length ?? 0, 'run'))],
            ['Failures', large(count(failureCount(result.counts)), kinds.join(', '))],
        ],
        {class: 'keys'}
    );
}

function about(result, job) {
    const counts = Object.entries(result.counts ?? {}).filter(([, n]) => n);
    return el(
        'details.figures',
        el('summary', 'About this job'),
        pairs(
            [
                ['Job file', job.job_file],
                ['Store', job.store],
                ['Device', result.device],
                ['Architecture', result.arch],
                ['Driver', result.driver],
                ['Compiler', result.compiler],
                ['Source', result.source_hash],
                ['Objective', result.objective],
                [
                    'Problems',
                    (result.problems ?? [])
                        .map(({name, tuned}) => (tuned ? name : `${name} (only verified)`))
                        .join(', ') || null,
                ],
                ['Began', moment(result.started)],
                ['Ended', moment(result.ended)],
                ['Trials', counts.map(([status, n]) => `${status} ${count(n)}`).join(', ') || null],
            ],
            {class: 'facts'}
        )
    );
}

// A configuration as a list of names and values.
const configurationList = config =>
    el(
        'ul.configuration',
        settings(config).map(([name, value]) => el('li', el('span', name), el('b', value)))
    );

function showJob(main, jobs, at, index) {
    const job = jobs[at],
        results = job.results ?? [],
        result = results[index];
    if (jobs.length > 1) main.append(el('p.back', el('a', {href: '#'}, '← All jobs')));
    main.append(el('h1', job.name, job.running ? el('span.badge.running', 'Running') : null));
    if (job.title) main.append(el('p.lead', job.title));
    if (job.running) main.append(el('p.note', 'This job is being tuned: sweetspot report shows newer results.'));
    if (job.error) main.append(el('p.error', job.error));
    if (!result) {
        if (!job.error) main.append(absent(`The store has no trials yet. Run: sweetspot tune ${fileOf(job)}`));
        return;
    }
    if (results.length > 1) {
        const select = el(
            'select',
            {
                'data-choice': 'result',
                onchange: () => {
                    location.hash = `#job/${at}/${select.value}`;
                },
            },
            results.map((each, i) => el('option', {value: i, selected: i === index}, environmentName(each)))
        );
        main.append(el('div.controls', labelled('Device and environment', select)));
    } else main.append(el('p.note', environmentName(result)));
    if (result.replayed) {
        main.append(el('p.note', 'Replayed from a recording: these results were measured earlier.'));
    }
    main.append(keyFigures(result));
    const config = result.winner?.config ?? result.best?.config;
    if (config)
        main.append(el('h3', result.winner ? 'The winner' : 'The best of the search'), configurationList(config));
    main.append(
        about(result, job),
        el(
            'nav',
            {'aria-label': 'Sections'},
            SECTIONS.map(each => el('a', {href: `#job/${at}/${index}/${each.id}`}, each.short ?? each.title))
        )
    );
    for (const each of SECTIONS) {
        const section = el('section', {id: each.id, tabindex: '-1'}, el('h2', each.title));
        main.append(section);
        try {
            const missing = each.show(section, result, job, `${at}/${index}`);
            if (missing) section.append(absent(missing));
        } catch (error) {
            // a part that cannot be shown must not hide the others
            console.error(error);
            section.append(el('p.error', `This part cannot be shown: ${error.message}`));
        }
    }
}
