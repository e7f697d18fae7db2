// Tests a job's charts and its table of trials on the page of `sweetspot report`, with reports from sample.js.
'use strict';

const test = require('node:test'),
    assert = require('node:assert/strict');
const {VARIANTS} = require('./sample.js'),
    {pageOf, withPage, processorTime, all, chart, drawn, everyChart, soundText, everySection, choose} =
        require('./harness.js');

all('every chart of a job draws', 'one', {}, async tab => {
    const ids = await everyChart(tab);
    for (const id of [
        'progress',
        'parameter-0',
        'parameter-9',
        'pair',
        'counters',
        'final',
    ])
        assert.ok(ids.includes(id), id);
    await everySection(tab);
    await soundText(tab);
});

all('the page says which values may be missing', 'one', {}, async tab => {
    const text = await tab.value(`document.getElementById('parameters').innerText`);
    assert.match(text, /The winner has the largest STAGES \(5\): values beyond these may be faster\./);
});

all('charts are drawn when they are scrolled to, and not before', 'one', {}, async tab => {
    assert.equal(await tab.value(`${chart('final')}.instance`), null);
    await drawn(tab, 'final');
});

all('hovering shows the figures of what lies below', 'one', {}, async tab => {
    // For each chart: the position of one of its marks, and the text that the tooltip must contain.
    const places = [
        ['progress', 'option.series[0].data[3]', /Trial[\s\S]*Evaluations/],
        ['final', 'option.series[0].data[0].value', /Ratio/],
        ['counters', 'option.series[0].data[0]', /icache_misses/],
        ['pair', 'option.series[0].data[0].value.slice(0, 2)', /Candidates/],
        ['parameter-0', '[1, option.series[0].data[1][2]]', /Best[\s\S]*Median/],
    ];
    for (const [id, place, expected] of places) {
        await drawn(tab, id);
        const [x, y] = await tab.value(`(() => {
            const {instance} = ${chart(id)}, option = instance.getOption();
            const box = instance.getDom().getBoundingClientRect();
            const at = instance.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, ${place});
            return [box.left + at[0], box.top + at[1]];
        })()`);
        await tab.mouse('mouseMoved', x + 30, y);
        await tab.mouse('mouseMoved', x, y);
        const tips = `[...document.querySelectorAll('[data-chart="${id}"] .tip')].map(each => each.innerText).join('')`;
        await tab.until(`${tips} !== ''`).catch(() => assert.fail(`${id}: no tooltip`));
        assert.match(await tab.value(tips), expected, id);
    }
});

all('progress can be seen against evaluations', 'one', {}, async tab => {
    await drawn(tab, 'progress');
    const last = `${chart('progress')}.instance.getOption().series[0].data.at(-1)[0]`;
    assert.equal(await tab.value(last), 3); // hours
    await tab.value(choose('progress', 'evaluations'));
    assert.equal(await tab.value(last), 900);
});

all('any two parameters can be seen together', 'one', {}, async tab => {
    const {trials, parameters} = VARIANTS.one().jobs[0].results[0],
        [a, b] = [3, 5];
    await drawn(tab, 'pair');
    await tab.value(choose('0/0/pair-x', a));
    await tab.value(choose('0/0/pair-y', b));
    const option = `${chart('pair')}.instance.getOption()`;
    assert.deepEqual(await tab.value(`[${option}.xAxis[0].name, ${option}.yAxis[0].name]`), [
        parameters[a].name,
        parameters[b].name,
    ]);
    const pairs = new Set(
        trials.trial
            .map((_, i) => i)
            .filter(i => trials.time[i] !== null)
            .map(i => `${trials.values[a][i]},${trials.values[b][i]}`)
    );
    assert.equal(await tab.value(`${option}.series[0].data.length`), pairs.size);
    const strongest = await tab.value(`Math.max(...${option}.series[0].data.map(each => each.value[2]))`);
    assert.equal(strongest, 1);
});

// The cells of one column of the table of trials, on the page of the table that is shown.
const column = k => `[...document.querySelectorAll('.trials tbody tr')].map(row => row.cells[${k}].innerText)`;

all('100,000 trials are in a table that sorts, searches and pages, each within 2 s', 'large', {}, async tab => {
    const {trials, parameters} = VARIANTS.large().jobs[0].results[0];
    const quickly = async (before, work, ready) => {
        await tab.value(before);
        await tab.until(`!(${ready})`);
        const took = await processorTime('click', 'shown', async () => {
            await tab.value(`performance.mark('click'); ${work}`);
            await tab.until(ready);
            await tab.value(`performance.mark('shown')`);
        });
        assert.ok(took <= 2000, `${work}: ${took} ms`);
    };
    await tab.value(`document.querySelector('.trials').scrollIntoView()`);
    await tab.until(`document.querySelectorAll('.trials tbody tr').length === 25`);
    const info = `document.querySelector('.dt-info').textContent`;
    assert.match(await tab.value(info), /1 to 25 of 100,000 trials/);
    const best = trials.time.reduce((least, each, i) => (each !== null && each < trials.time[least] ? i : least), 0);
    assert.equal((await tab.value(column(0)))[0], String(trials.trial[best]));
    assert.equal((await tab.value(column(3)))[0], String(parameters[0].values[trials.values[0][best]]));
    const head = k => `document.querySelectorAll('.trials thead th')[${k}]`;
    const search = text => `(() => { const input = document.querySelector('.dt-search input');
        input.value = '${text}'; input.dispatchEvent(new Event('input')); })()`;
    await quickly(`${head(1)}.click()`, `${head(0)}.click()`, `${column(0)}[0] === '1'`);
    await quickly(`${head(1)}.click()`, `${head(3)}.click()`, `${head(3)}.getAttribute('aria-sort') === 'ascending'`);
    const page = word => `document.querySelector('.dt-paging-button.${word}').click()`;
    await quickly(page('first'), page('last'), `/99,976 to 100,000/.test(${info})`);
    await quickly(search(''), search('wrong'), `${column(2)}.every(each => each === 'wrong')`);
    const wrong = trials.status.filter(each => each === 'wrong').length.toLocaleString('en-US');
    assert.ok((await tab.value(info)).includes(`of ${wrong} trials (of 100,000)`), await tab.value(info));
});

all('steps of the best are all in the chart', 'large', {}, async tab => {
    await drawn(tab, 'progress');
    const steps = VARIANTS.large().jobs[0].results[0].progress.rows.length;
    assert.equal(await tab.value(`${chart('progress')}.instance.getOption().series[0].data.length`), steps);
});

all('any counter can stand on either axis', 'one', {}, async tab => {
    await drawn(tab, 'counters');
    const names = `(option => [option.xAxis[0].name, option.yAxis[0].name])(${chart(
        'counters'
    )}.instance.getOption())`;
    assert.deepEqual(await tab.value(names), ['icache_misses (misses)', 'time (µs)']);
    await tab.value(choose('0/0/x', 7)); // compile_seconds
    await tab.value(choose('0/0/y', 2)); // registers
    assert.deepEqual(await tab.value(names), ['compile_seconds (ms)', 'registers']);
    assert.match(
        await tab.value(`document.querySelector('[data-chart="counters"] .note').textContent`),
        /candidates of 900 with both figures\. /
    );
    await tab.value(choose('0/0/x', 0)); // in the order of the search
    assert.equal((await tab.value(names))[0], 'trial');
});

// Measures processor time, because other programs use the machine too.
async function quick(variant, hash) {
    await withPage(pageOf('one'), {}, tab => drawn(tab, 'counters')); // so that the browser's start is not measured
    const first = await processorTime('begin', 'first chart', () =>
        withPage(pageOf(variant), {hash}, tab => tab.until(`performance.getEntriesByName('first chart').length > 0`))
    );
    assert.ok(first <= 2000, `first chart after ${first} ms`);
    await withPage(pageOf(variant), {hash}, async tab => {
        await drawn(tab, 'counters');
        const answer = await processorTime('choice', 'answer', () =>
            tab.value(`new Promise(resolve => {
                performance.mark('choice');
                ${choose('0/0/x', 3)};
                requestAnimationFrame(() => setTimeout(() => resolve(performance.mark('answer').name)));
            })`)
        );
        assert.ok(answer <= 2000, `a choice is answered after ${answer} ms`);
    });
}

test('100,000 trials: the first chart is there, and a choice answered, within 2 s', () => quick('large', ''));
test('48 jobs: the first chart of a job is there, and a choice answered, within 2 s', () => quick('many', '#job/0'));
