// Shared by the tests of a report's page in Chromium. Every test fails if the console shows an error or a warning, or
// if the page requests anything except its own file.
'use strict';

const test = require('node:test'),
    assert = require('node:assert/strict');
const fs = require('node:fs'),
    os = require('node:os'),
    path = require('node:path');
const {Chromium} = require('./chromium.js'),
    {VARIANTS} = require('./sample.js'),
    {makePage} = require('./page.js');

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

// The processor time (ms) of a page's main thread from one mark of `work` to another.
async function processorTime(from, to, work) {
    const marks = await browser.marks(work);
    assert.ok(marks[from] >= 0 && marks[to] > marks[from], JSON.stringify(marks));
    return marks[to] - marks[from];
}

// A test of a sample's page: all('name', variant, options of the tab, work(tab)).
function all(name, variant, options, work) {
    test(name, () => withPage(pageOf(variant), options, work));
}

// Expressions to evaluate in the page: the figure of a chart, and the number of pixels that are not empty.
const chart = id => `document.querySelector('[data-chart="${id}"] .chart').figure`;
const MARKS = `canvas => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let marks = 0;
    for (let i = 0; i < data.length; i += 4) marks += data[i + 3] > 0;
    return marks;
}`;

async function drawn(tab, id) {
    // Scrolls to the chart before every check, because charts that are drawn above it may move it.
    await tab.until(`(document.querySelector('[data-chart="${id}"]').scrollIntoView({block: 'center'}),
        ${chart(id)}.instance !== null)`);
}

// Scrolls to every chart of the view, and checks that it is drawn and has marks and data. Returns the charts' names.
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

// Fails if the view's text shows values that it should not, such as NaN or undefined. Returns the text.
async function soundText(tab) {
    const text = await tab.value(`document.querySelectorAll('details').forEach(each => { each.open = true; }),
        new Promise(resolve => setTimeout(() => resolve(document.getElementById('main').innerText), 50))`);
    assert.doesNotMatch(text, /\b(NaN|undefined|null|Infinity)\b|\[object/);
    return text;
}

const SECTIONS = [
    'progress',
    'parameters',
    'pair',
    'trials',
    'failures',
    'counters',
    'final',
    'gates',
    'limits',
    'reproduce',
];

// Every section has a chart, a table, a list, or a sentence that says why it has none.
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

module.exports = {
    folder,
    pageOf,
    withPage,
    processorTime,
    all,
    chart,
    drawn,
    everyChart,
    soundText,
    everySection,
    choose,
};
