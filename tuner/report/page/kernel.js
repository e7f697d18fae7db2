// What limits the kernel, and how to reproduce its result.

const LIMITERS = {
    memory: 'Memory-bound: the kernel takes as long as its memory traffic. Fewer bytes or better coalescing helps.',
    math: 'Math-bound: the kernel takes as long as its instructions. Fewer or cheaper instructions help.',
    balanced: 'Balanced: memory and arithmetic take equally long and overlap. Reduce both.',
    latency: 'Latency-bound: memory and arithmetic hardly overlap. More warps or more loads in flight help.',
};

function showLimits(parent, result, job) {
    const {limits, findings} = result,
        file = fileOf(job);
    if (limits) {
        const {limiter, warnings, version: _, ...rest} = limits,
            key = String(limiter ?? '').split(/[^a-z]/)[0];
        parent.append(
            el('p.limiter', LIMITERS[key] ?? `Limiter: ${limiter ?? UNKNOWN}`),
            pairs(
                Object.entries(rest)
                    .filter(([, value]) => known(value))
                    .map(([name, value]) => [
                        name.replaceAll('_', ' '),
                        name === 'overlap' ? percent(value) : compact(value),
                    ]),
                {class: 'facts'}
            ),
            ...(warnings ?? []).map(text => el('p.note', text))
        );
    } else parent.append(absent(`The limit of the winner is unknown. On its GPU: sweetspot profile --limits ${file}`));
    if (!findings) return `The winner has not been profiled. Run on its GPU: sweetspot profile ${file}`;
    parent.append(el('h3', `Findings of the profile of trial ${result.profiled_trial ?? UNKNOWN}`));
    if (!findings.findings.length) parent.append(absent('The profile found nothing that costs time.'));
    parent.append(
        el(
            'ol.findings',
            findings.findings.map(({seen, gain, why, advice, line}) =>
                el(
                    'li',
                    el('strong', seen),
                    known(gain) ? el('span.gain', ` up to ${percent(gain, 2)} of the time`) : null,
                    el(
                        'p',
                        [why, advice]
                            .filter(Boolean)
                            .map(text => (/[.!?]$/.test(text) ? text : `${text}.`))
                            .join(' ')
                    ),
                    line ? el('small', `${line.file}:${line.line ?? UNKNOWN}`) : null
                )
            )
        )
    );
}

function showReproduce(parent, {reproduce}) {
    if (!reproduce) return 'The store does not say how its runs were started.';
    const code = el('pre', {tabindex: '0'}, el('code', reproduce));
    const said = el('span', {role: 'status', class: 'note'});
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(reproduce);
            said.textContent = 'Copied.';
        } catch {
            getSelection().selectAllChildren(code);
            said.textContent = 'Selected: copy it with Ctrl-C.';
        }
    };
    parent.append(code, el('div.controls', el('button', {type: 'button', id: 'copy', onclick: copy}, 'Copy'), said));
}
