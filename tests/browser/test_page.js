// The page of `sweetspot report` in Chromium: reports of sample.js, and one of a replayed job. Every test looks at the
// console: an error or a warning there fails it, and so does any request but for the page itself.
'use strict';

const test = require('node:test'),
    assert = require('node:assert/strict');
const fs = require('node:fs'),
    os = require('node:os'),
    path = require('node:path');
const {spawnSync} = require('node:child_process');
const {Chromium} = require('./chromium.js'),
    {VARIANTS, MARKUP} = require('./sample.js'),
    {makePage, ROOT} = require('./page.js');

const BIN = path.resolve(ROOT, process.env.BIN ?? 'out/bin');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sweetspot-pages-'));
let browser;

test.before(async () => {
    browser = await Chromium.start();
});
test.after(async () => {
    await browser.stop();
    fs.rmSync(folder, {recursive: true, force: true});
});

// The file of a variant's page, written once.
function pageOf(variant) {
    const file = path.join(folder, `${variant}.html`);
    if (!fs.existsSync(file)) fs.writeFileSync(file, makePage(VARIANTS[variant]()));
    return file;
}

async function withPage(file, options, work) {
    const tab = await browser.open(file, options);
    try {
        await work(tab);
        assert.deepEqual(tab.errors, []);
        assert.deepEqual(
            tab.requests.filter(url => !url.startsWith('file:')),
            []
        );
    } finally {
        await tab.close();
    }
}

// A test of a sample's page: all('name', variant, options of the tab, work(tab)).
function all(name, variant, options, work) {
    test(name, () => withPage(pageOf(variant), options, work));
}

// In the page: the figure of a chart, and whether the chart has marks: pixels of a colour beside the most common one.
const chart = id => `document.querySelector('[data-chart="${id}"] .chart').figure`;
const MARKS = `canvas => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let marks = 0;
    for (let i = 0; i < data.length; i += 4) marks += data[i + 3] > 0;
    return marks;
}`;

async function drawn(tab, id) {
    // Scrolled to at each look: what is drawn above may move it.
    await tab.until(`(document.querySelector('[data-chart="${id}"]').scrollIntoView({block: 'center'}),
        ${chart(id)}.instance !== null)`);
}

// Every chart of the view is scrolled to, drawn, and has marks and data. Returns their names.
async function everyChart(tab) {
    const ids = await tab.value(`[...document.querySelectorAll('[data-chart]')].map(each => each.dataset.chart)`);
    for (const id of ids) {
        await drawn(tab, id);
        const {marks, data} = await tab.value(`(() => {
            const instance = ${chart(id)}.instance;
            return {marks: (${MARKS})(instance.getDom().querySelector('canvas')),
                data: instance.getOption().series.reduce((sum, series) => sum + series.data.length, 0)};
        })()`);
        assert.ok(marks > 300, `${id}: ${marks} pixels`);
        assert.ok(data > 0, `${id} has no data`);
    }
    return ids;
}

// Whether the view's text shows what was not meant to be text.
async function soundText(tab) {
    const text = await tab.value(`document.querySelectorAll('details').forEach(each => { each.open = true; }),
        new Promise(resolve => setTimeout(() => resolve(document.getElementById('main').innerText), 50))`);
    assert.doesNotMatch(text, /\b(NaN|undefined|null|Infinity)\b|\[object/);
    return text;
}

const SECTIONS = [
    'progress',
    'times',
    'parameters',
    'pair',
    'trials',
    'lines',
    'failures',
    'counters',
    'final',
    'roofline',
    'limits',
    'machine',
    'reproduce',
];

// Every section has a chart, a table, a list, or a sentence that says why not.
async function everySection(tab) {
    const empty = await tab.value(`${JSON.stringify(SECTIONS)}.filter(id => !document.getElementById(id)
        ?.querySelector('figure, table, ol li, pre, .absent'))`);
    assert.deepEqual(empty, []);
    assert.equal(
        await tab.value(`[...document.querySelectorAll('.error')].filter(each =>
        each.textContent.includes('cannot be shown')).length`),
        0
    );
}

const choose = (key, value) => `(() => {
    const select = document.querySelector('[data-choice="${key}"]');
    select.value = ${JSON.stringify(String(value))};
    select.dispatchEvent(new Event('change', {bubbles: true}));
    return select.value;
})()`;

all('every chart of a job draws', 'one', {}, async tab => {
    const ids = await everyChart(tab);
    for (const id of [
        'progress',
        'histogram',
        'distribution',
        'importance',
        'parameter-0',
        'parameter-9',
        'pair',
        'lines',
        'failures',
        'counters',
        'final',
        'roofline',
        'machine',
    ])
        assert.ok(ids.includes(id), id);
    await everySection(tab);
    await soundText(tab);
});

all('charts are drawn when they are scrolled to, and not before', 'one', {}, async tab => {
    assert.equal(await tab.value(`${chart('roofline')}.instance`), null);
    await drawn(tab, 'roofline');
});

all('hovering shows the figures of what lies below', 'one', {}, async tab => {
    // Of each chart: the series and the place of one of its marks, and what the tooltip must say.
    const places = [
        ['progress', 'option.series[0].data[3]', /Trial[\s\S]*Evaluations/],
        ['final', 'option.series[0].data[0].value', /Ratio/],
        [
            'histogram',
            '(d => [Math.sqrt(d[0] * d[1]), d[2] / 2])(option.series[0].data.find(d => d[2] > 20))',
            /candidates/,
        ],
        ['distribution', 'option.series[0].data[50]', /Take at most/],
        ['counters', 'option.series[0].data[0].value', /icache_misses/],
        ['pair', 'option.series[0].data[0].value.slice(0, 2)', /Candidates/],
        ['parameter-0', '[1, option.series[0].data[1][2]]', /Best[\s\S]*Median/],
        ['roofline', 'option.series[1].data[0]', /Of the roof/],
        ['importance', '[2, 0]', /Importance/],
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
    await tab.value(choose('progress-scale', 'log'));
    assert.equal(await tab.value(`${chart('progress')}.instance.getOption().xAxis[0].type`), 'log');
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

// The cells of a column of the table of trials that are on its page.
const column = k => `[...document.querySelectorAll('.trials tbody tr')].map(row => row.cells[${k}].innerText)`;

all('100,000 trials are in a table that sorts, searches and pages, each within 2 s', 'large', {}, async tab => {
    const {trials, parameters} = VARIANTS.large().jobs[0].results[0];
    // The best of six, since others use the machine too.
    const quickly = async (before, work, ready) => {
        let least = Infinity;
        for (let i = 0; i < 6 && least > 2000; i++) {
            await tab.value(before);
            await tab.until(`!(${ready})`);
            const start = performance.now();
            await tab.value(work);
            await tab.until(ready);
            least = Math.min(least, performance.now() - start);
        }
        assert.ok(least <= 2000, `${work}: ${least} ms`);
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

all('lines are selected by a list and by drawing along an axis', 'one', {}, async tab => {
    const {rows} = VARIANTS.one().jobs[0].results[0].lines,
        status = `document.getElementById('selected').textContent`;
    await drawn(tab, 'lines');
    assert.match(await tab.value(status), new RegExp(`^${rows.length} lines`));
    await tab.value(choose('brush-parameter', 0));
    await tab.value(choose('brush-value', 1));
    const wanted = rows.filter(row => row[1] === 1).length;
    await tab.until(`${status}.startsWith('${wanted} of ${rows.length} lines selected')`);
    await tab.value(`[...document.querySelectorAll('[data-chart="lines"] button')].at(-1).click()`);
    await tab.until(`${status}.startsWith('${rows.length} lines')`);
    // What is selected by the lists survives a change of colours.
    await tab.value(choose('brush-parameter', 0));
    await tab.value(choose('brush-value', 1));
    await tab.value(`document.getElementById('theme').click(), document.getElementById('theme').click()`);
    await tab.until(`${status}.startsWith('${wanted} of ${rows.length} lines selected')`);
    await tab.value(`[...document.querySelectorAll('[data-chart="lines"] button')].at(-1).click()`);
    await tab.until(`${status}.startsWith('${rows.length} lines')`);
    // The lower part of the last axis: the faster half of the lines.
    const {x, top, bottom} = await tab.value(`(() => {
        const {instance} = ${chart('lines')}, box = instance.getDom().getBoundingClientRect();
        const system = instance.getModel().getComponent('parallel').coordinateSystem, last = system.dimensions.at(-1);
        const times = instance.getOption().series[0].data.map(({value}) => value.at(-1)).sort((a, b) => a - b);
        const [[x, low], [, middle]] = [times[0], times[times.length >> 1]].map(each => system.dataToPoint(each, last));
        return {x: box.left + x, bottom: box.top + low, top: box.top + middle};
    })()`);
    await tab.mouse('mouseMoved', x, bottom + 2);
    await tab.mouse('mousePressed', x, bottom + 2, 1);
    for (const y of [bottom - 20, (top + bottom) / 2, top]) await tab.mouse('mouseMoved', x, y, 1);
    await tab.mouse('mouseReleased', x, top, 1);
    await tab.until(`${status}.includes('selected; the fastest takes')`);
    const selected = Number((await tab.value(status)).split(' ')[0]);
    assert.ok(Math.abs(selected - rows.length / 2) < 0.1 * rows.length, String(selected));
});

all('any counter can stand on either axis, coloured by any parameter', 'one', {}, async tab => {
    await drawn(tab, 'counters');
    const names = `(option => [option.xAxis[0].name, option.yAxis[0].name, option.series.length])(${chart(
        'counters'
    )}.instance.getOption())`;
    assert.deepEqual(await tab.value(names), ['icache_misses (misses)', 'time (µs)', 3]);
    await tab.value(choose('0/0/x', 7)); // compile_seconds
    await tab.value(choose('0/0/y', 2)); // registers
    await tab.value(choose('0/0/colour', 5)); // STAGES, of four values
    assert.deepEqual(await tab.value(names), ['compile_seconds (ms)', 'registers', 4]);
    assert.match(
        await tab.value(`document.querySelector('[data-chart="counters"] .note').textContent`),
        /candidates of 900 with both figures\. Rank correlation -?0\.\d+\./
    );
    await tab.value(choose('0/0/colour', ''));
    assert.equal((await tab.value(names))[2], 1);
    // A logarithmic scale leaves out what is zero, and says so.
    await tab.value(choose('0/0/x', 5)); // bank_conflicts_load
    await tab.value(choose('0/0/scale', 'log'));
    const {rows} = VARIANTS.one().jobs[0].results[0].points;
    const zeros = rows.filter(row => row[5] === 0).length;
    assert.ok(zeros > 0);
    assert.ok(
        (await tab.value(`document.querySelector('[data-chart="counters"] .note').textContent`)).includes(
            `; ${zeros} at zero or below are not on a logarithmic scale.`
        )
    );
    assert.equal(await tab.value(`${chart('counters')}.instance.getOption().xAxis[0].type`), 'log');
});

all('a job on three devices has a row for each, and a selector', 'devices', {}, async tab => {
    assert.deepEqual(
        await tab.value(`[...document.querySelectorAll('.overview tbody tr')].map(row =>
        row.lastElementChild.textContent)`),
        ['NVIDIA H200', 'NVIDIA H100', 'NVIDIA A100', 'No trials yet. Run: sweetspot tune ' + 'configs/other.cfg']
    );
    await tab.value(`document.querySelectorAll('.overview tbody a')[2].click()`);
    await tab.until(`document.querySelector('[data-choice="result"]')?.value === '2'`);
    assert.match(await tab.value(`document.querySelector('.keys').innerText`), /Slower/);
    await tab.value(choose('result', 0));
    await tab.until(`location.hash === '#job/0/0' && document.querySelector('.keys') !== null`);
    assert.match(await soundText(tab), /NVIDIA H200/);
    await everyChart(tab);
});

all('the button turns the page dark, charts too, and it stays', 'one', {}, async tab => {
    await drawn(tab, 'progress');
    const look = `[getComputedStyle(document.body).backgroundColor,
        ${chart('progress')}.instance.getOption().yAxis[0].axisLabel.color]`;
    const light = await tab.value(look);
    await tab.value(`document.getElementById('theme').click()`);
    const dark = await tab.value(look);
    assert.notEqual(dark[0], light[0]);
    assert.notEqual(dark[1], light[1]);
    await tab.load(`file://${pageOf('one')}`);
    assert.equal(await tab.value(`document.documentElement.dataset.theme`), 'dark');
    await tab.value(`document.getElementById('theme').click()`);
    assert.equal(await tab.value(`document.documentElement.dataset.theme`), 'light');
    await tab.value('localStorage.clear()');
});

all('the page is dark where the system is', 'one', {dark: true}, async tab => {
    assert.equal(await tab.value(`document.documentElement.dataset.theme`), 'dark');
    assert.equal(await tab.value(`document.getElementById('theme').textContent`), 'Light');
});

all('on paper every chart is drawn, light, and as wide as the sheet', 'one', {dark: true}, async tab => {
    const pdf = await tab.pdf();
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    assert.equal(
        await tab.value(`[...document.querySelectorAll('.chart')].filter(each => !each.figure.instance).length`),
        0
    );
    assert.equal(await tab.value(`document.documentElement.dataset.theme`), 'dark');
    await tab.value(`dispatchEvent(new Event('beforeprint'))`);
    assert.equal(await tab.value(`document.documentElement.dataset.theme`), 'light');
    assert.deepEqual(
        await tab.value(`[...document.querySelectorAll('main figure, main table, .chart canvas')]
        .filter(each => each.getBoundingClientRect().right > 690).map(each => each.outerHTML.slice(0, 80))`),
        []
    );
    await tab.value(`dispatchEvent(new Event('afterprint'))`);
    assert.equal(await tab.value(`document.documentElement.classList.contains('printing')`), false);
});

all('names with markup are text', 'markup', {}, async tab => {
    const look = async () => {
        assert.equal(await tab.value(`typeof window.hacked`), 'undefined');
        assert.equal(await tab.value(`document.querySelectorAll('main img, main script').length`), 0);
        assert.ok((await soundText(tab)).includes(MARKUP));
    };
    await look();
    await tab.value(`location.hash = '#job/0'`);
    await tab.until(`document.getElementById('reproduce') !== null`);
    const ids = await everyChart(tab);
    for (const id of ids.filter(each => each !== 'lines')) {
        // all tooltips of these charts; lines are hovered below
        await drawn(tab, id);
        await tab.value(`(() => {
            const {instance} = ${chart(id)}, {series} = instance.getOption();
            series.forEach((_, seriesIndex) => [0, 1, 2].forEach(dataIndex =>
                instance.dispatchAction({type: 'showTip', seriesIndex, dataIndex})));
        })()`);
    }
    await drawn(tab, 'lines');
    const [x, y] = await tab.value(`(() => {
        const {instance} = ${chart('lines')}, box = instance.getDom().getBoundingClientRect();
        const system = instance.getModel().getComponent('parallel').coordinateSystem;
        const {value} = instance.getOption().series[0].data[0];
        const [a, b] = [0, 1].map(i => system.dataToPoint(value[i], system.dimensions[i]));
        return [box.left + (a[0] + b[0]) / 2, box.top + (a[1] + b[1]) / 2];
    })()`);
    for (const dx of [20, 0]) await tab.mouse('mouseMoved', x + dx, y);
    await tab.until(`document.querySelector('[data-chart="lines"] .tip') !== null`);
    await look();
    await tab.value(`location.hash = '#job/1'`);
    await tab.until(`document.querySelector('main .error') !== null`);
    assert.equal(await tab.value(`typeof window.hacked`), 'undefined');
});

const ODD = {
    failuresOnly: /None of 60 candidates has a time; the section Failures says why/,
    oneConfiguration: /Two parameters with several values/,
    unknown: /No candidate has been timed yet/,
    noFinal: /There has been no final yet\. It runs at the end of sweetspot tune/,
    manyValues: /1,000|grouped|X/,
};
const words = variant => variant.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
for (const [variant, expected] of Object.entries(ODD)) {
    all(`a report of ${words(variant)} says what there is and what not`, variant, {}, async tab => {
        await everySection(tab);
        await everyChart(tab);
        assert.match(await soundText(tab), expected);
    });
}

const BARE = {
    empty: /This report has no jobs/,
    noTrials: /The store has no trials yet\. Run: sweetspot tune configs\/sgemm_2048\.cfg/,
    unreadable: /out\/sgemm_2048\.db: not a store/,
};
for (const [variant, expected] of Object.entries(BARE)) {
    all(`a report that is ${words(variant)} says so`, variant, {}, async tab =>
        assert.match(await soundText(tab), expected)
    );
}

test('a page whose data were cut off says so', async () => {
    const file = path.join(folder, 'cut.html');
    fs.writeFileSync(file, fs.readFileSync(pageOf('one'), 'utf8').replace('"jobs":[{', '"jobs":[{{'));
    await withPage(file, {}, async tab => assert.match(await soundText(tab), /The data of this page cannot be read/));
});

all('48 jobs have rows with bars that can be sorted and filtered', 'many', {}, async tab => {
    const names = `[...document.querySelectorAll('.overview tbody th a')].map(each => each.textContent)`;
    const press = name => `[...document.querySelectorAll('.overview thead button')].find(each =>
        each.textContent === '${name}').click()`;
    assert.equal((await tab.value(names)).length, 48);
    assert.match(
        await tab.value(`document.querySelector('.lead').textContent`),
        /\d+ faster, .*\d+ slower, .*without trials/
    );
    await tab.value(press('Ratio'));
    const ratios = await tab.value(`[...document.querySelectorAll('.overview td[data-name="Ratio"] b')].map(each =>
        parseFloat(each.textContent))`);
    assert.ok(ratios.length > 30);
    assert.deepEqual(
        ratios,
        ratios.toSorted((a, b) => b - a)
    );
    assert.equal(await tab.value(`document.querySelectorAll('[aria-sort="descending"]').length`), 1);
    await tab.value(`(() => { const input = document.querySelector('input'); input.value = 'BF16_12';
        input.dispatchEvent(new Event('input')); })()`);
    assert.deepEqual((await tab.value(names)).toSorted(), ['bf16_128', 'bf16_1280']);
    await tab.value(`(() => { const input = document.querySelector('input'); input.value = '';
        input.dispatchEvent(new Event('input')); })()`);
    await tab.value(choose('verdict', 'slower'));
    const slower = await tab.value(
        `[...document.querySelectorAll('.overview .badge')].map(each => each.textContent)`
    );
    assert.ok(slower.length > 0 && slower.every(word => word === 'Slower'), slower.join());
    // A bar grows from 1: of what is slower, to the left, and its whiskers have their own lines.
    assert.equal(await tab.value(`document.querySelectorAll('.ratio-bar .below').length`), slower.length);
    assert.equal(await tab.value(`document.querySelectorAll('.ratio-bar .whisker').length`), 3 * slower.length);
});

// Milliseconds until the first chart is there, and until a choice is answered; the best of three, since others use the
// machine too.
async function quick(variant, hash) {
    let first = Infinity,
        answer = Infinity;
    for (let i = 0; i < 3 && (first > 2000 || answer > 2000); i++) {
        await withPage(pageOf(variant), {hash}, async tab => {
            await tab.until(`performance.getEntriesByName('first chart').length > 0`);
            first = Math.min(first, await tab.value(`performance.getEntriesByName('first chart')[0].startTime`));
            await drawn(tab, 'counters');
            answer = Math.min(
                answer,
                await tab.value(`new Promise(resolve => {
                const start = performance.now();
                ${choose('0/0/x', 3)};
                requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
            })`)
            );
        });
    }
    assert.ok(first <= 2000, `first chart after ${first} ms`);
    assert.ok(answer <= 2000, `a choice is answered after ${answer} ms`);
}

test('100,000 trials: the first chart is there, and a choice answered, within 2 s', () => quick('large', ''));
test('48 jobs: the first chart of a job is there, and a choice answered, within 2 s', () => quick('many', '#job/0'));

all('a page of a running job renews itself and keeps the place and the choices', 'running', {}, async tab => {
    await tab.send('Page.addScriptToEvaluateOnNewDocument', {
        source: 'window.setInterval = (renew, milliseconds) => Object.assign(window, {renew, milliseconds});',
    });
    // An address that names a section must not take the reader back to it.
    await tab.load(`file://${pageOf('running')}#job/0/0/machine`);
    assert.equal(await tab.value('milliseconds'), 60000);
    await tab.value(choose('progress', 'evaluations'));
    await tab.value('scrollTo(0, 1500)');
    const loaded = new Promise(resolve => {
        tab.loaded = resolve;
    });
    await tab.value('setTimeout(renew), 0');
    await loaded;
    await tab.until('Math.abs(scrollY - 1500) < 5');
    assert.equal(await tab.value(`document.querySelector('[data-choice="progress"]').value`), 'evaluations');
});

all('a page without a running job does not renew itself', 'one', {}, async tab => {
    await tab.send('Page.addScriptToEvaluateOnNewDocument', {
        source: 'window.setInterval = () => { window.renews = true; };',
    });
    await tab.load(`file://${pageOf('one')}`);
    assert.equal(await tab.value('typeof renews'), 'undefined');
});

all('what is drawn can be read, and every control reached with the keyboard', 'one', {}, async tab => {
    assert.equal(
        await tab.value(`[...document.querySelectorAll('.chart')].filter(each =>
        each.getAttribute('role') !== 'img' || !each.getAttribute('aria-label')).length`),
        0
    );
    assert.deepEqual(
        await tab.value(`[...document.querySelectorAll('figure')].filter(figure => !figure.querySelector('details'))
        .map(figure => figure.dataset.chart)`),
        ['failures', 'final']
    ); // whose table stands below
    await tab.value(`document.querySelectorAll('figure details').forEach(each => { each.open = true; })`);
    await tab.until(`[...document.querySelectorAll('figure details')].every(each => each.querySelector('tbody tr'))`);
    await tab.value(
        `document.querySelectorAll('figure details').forEach(each => { each.open = false; }), scrollTo(0, 0)`
    );
    const wanted = await tab.value(`document.querySelectorAll('select:not(:disabled), button, summary').length`);
    const reached = new Set();
    await tab.value(`window.reached = new Set(), addEventListener('focusin', ({target}) =>
        target.matches('select, button, summary') && reached.add(target)), 0`);
    for (let i = 0; i < 120 && reached.size < wanted; i++) {
        await tab.key('Tab', 9);
        if ((await tab.value('reached.size')) === wanted) break;
    }
    assert.equal(await tab.value('reached.size'), wanted);
    assert.equal(
        await tab.value(`[...document.querySelectorAll('select, input')].filter(each => !each.labels.length).length`),
        0
    );
});

all('links of the head lead to sections', 'one', {}, async tab => {
    await tab.value(`[...document.querySelectorAll('nav a')].find(each => each.textContent === 'Roofline').click()`);
    await tab.until(`Math.abs(document.getElementById('roofline').getBoundingClientRect().top) < 200`);
    assert.equal(await tab.value('document.activeElement.id'), 'roofline');
});

all('the commands can be copied', 'one', {}, async tab => {
    await tab.value(`document.getElementById('copy').scrollIntoView(), document.getElementById('copy').click()`);
    const said = `document.querySelector('#reproduce [role=status]').textContent`;
    await tab.until(`${said} !== ''`);
    const text =
        (await tab.value(said)) === 'Copied.'
            ? await tab.value(`navigator.clipboard.readText().catch(() => null)`)
            : await tab.value('String(getSelection())');
    if (text !== null) assert.equal(text.trim(), VARIANTS.one().jobs[0].results[0].reproduce.join('\n'));
});

for (const [variant, hash] of [
    ['many', ''],
    ['one', ''],
    ['devices', '#job/0/1'],
]) {
    all(
        `on a phone nothing is wider than the screen: ${variant}${hash}`,
        variant,
        {width: 390, height: 800, hash},
        async tab => {
            await everyChart(tab);
            assert.ok((await tab.value('document.documentElement.scrollWidth')) <= 390);
        }
    );
}

// Of the set-up ---------------------------------------------------------------------------------

test('the lock file has hashes, and no addresses', () => {
    const text = fs.readFileSync(path.join(ROOT, 'tuner/report/page/package-lock.json'), 'utf8');
    const packages = Object.entries(JSON.parse(text).packages).filter(([name]) => name !== '');
    assert.deepEqual(
        packages.map(([name]) => name),
        ['node_modules/datatables.net', 'node_modules/echarts', 'node_modules/tslib', 'node_modules/zrender']
    );
    for (const [name, {integrity}] of packages) assert.match(integrity, /^sha512-/, name);
    assert.doesNotMatch(text, /resolved|:\/\//);
});

test('without a registry the set-up says what is missing, and goes on', () => {
    const copy = path.join(folder, 'tree');
    for (const part of ['tests/charts.sh', 'tuner/report/page/package.json', 'tuner/report/page/package-lock.json']) {
        fs.mkdirSync(path.dirname(path.join(copy, part)), {recursive: true});
        fs.copyFileSync(path.join(ROOT, part), path.join(copy, part));
    }
    const env = {
        ...process.env,
        npm_config_registry: 'http://127.0.0.1:9',
        npm_config_cache: path.join(folder, 'cache'),
    };
    const {status, stderr} = spawnSync('sh', ['tests/charts.sh'], {cwd: copy, env, encoding: 'utf8'});
    assert.equal(status, 0);
    assert.match(
        stderr,
        /charts of `sweetspot report` are missing: npm cannot fetch them .*`make charts` tries again/
    );
    assert.ok(fs.existsSync(path.join(copy, 'out/npm/failed')));
    // A machine that has everything but npm.
    const programs = path.join(folder, 'programs');
    fs.mkdirSync(programs);
    for (const name of ['mkdir', 'cksum', 'cat', 'rm', 'cp']) {
        const found = spawnSync('sh', ['-c', `command -v ${name}`], {encoding: 'utf8'}).stdout.trim();
        fs.symlinkSync(found, path.join(programs, name));
    }
    const none = spawnSync('/bin/sh', ['tests/charts.sh'], {cwd: copy, env: {PATH: programs}, encoding: 'utf8'});
    assert.equal(none.status, 0);
    assert.match(none.stderr, /charts of `sweetspot report` are missing: npm is not installed/);
});

// Of the program itself -------------------------------------------------------------------------

function real(name, work) {
    const program = path.join(BIN, 'sweetspot');
    const skip =
        fs.existsSync(program) && spawnSync(program, ['report', '--help']).status === 0
            ? false
            : `${program} has no command 'report'`;
    test(name, {skip}, () => work(program));
}

real('the page of a replayed job draws as the samples do', async program => {
    const file = path.join(folder, 'real.html'),
        store = path.join(folder, 'real.db');
    const run = (...words) => {
        const {status, stderr} = spawnSync(program, words, {cwd: ROOT, encoding: 'utf8'});
        assert.equal(status, 0, stderr);
    };
    run(
        'tune',
        'configs/sgemm_2048.cfg',
        '--device',
        'replay:tests/spaces/sgemm_2048_h200.json.gz',
        '-n',
        '200',
        '-q',
        '--store',
        store
    );
    run('report', store, '-o', file);
    await withPage(file, {}, async tab => {
        await everySection(tab);
        const ids = await everyChart(tab);
        for (const id of ['progress', 'histogram', 'importance', 'pair', 'lines', 'counters', 'final']) {
            assert.ok(ids.includes(id), `${id} is missing: ${ids}`);
        }
        assert.match(await soundText(tab), /sgemm_2048[\s\S]*of 4,416 configurations|sgemm_2048/);
    });
});
