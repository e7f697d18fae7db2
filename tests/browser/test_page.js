// Tests the whole page of `sweetspot report`, with reports from sample.js and from a replayed job. Also tests its
// set-up.
'use strict';

const test = require('node:test'),
    assert = require('node:assert/strict');
const fs = require('node:fs'),
    path = require('node:path');
const {spawnSync} = require('node:child_process');
const {VARIANTS, MARKUP} = require('./sample.js'),
    {ROOT} = require('./page.js'),
    harness = require('./harness.js');
const {folder, pageOf, withPage, all, chart, drawn, everyChart, soundText, everySection, choose} = harness;

const BIN = path.resolve(ROOT, process.env.BIN ?? 'out/bin');

all('a job on three devices has a row for each, and a selector', 'devices', {}, async tab => {
    assert.deepEqual(
        await tab.value(`[...document.querySelectorAll('.overview tbody tr')].map(row =>
        row.lastElementChild.textContent)`),
        ['NVIDIA H200', 'NVIDIA H100', 'NVIDIA A100', '–']
    );
    assert.match(await soundText(tab), /No trials yet\. Run: sweetspot tune configs\/other\.cfg/);
    await tab.value(`document.querySelectorAll('.overview tbody a')[2].click()`);
    await tab.until(`document.querySelector('[data-choice="result"]')?.value === '2'`);
    assert.match(await tab.value(`document.querySelector('.keys').innerText`), /Slower/);
    await tab.value(choose('result', 0));
    await tab.until(`location.hash === '#job/0/0' && document.querySelector('.keys') !== null`);
    assert.match(await soundText(tab), /NVIDIA H200/);
    await everyChart(tab);
});

all('the page is dark where the system is, charts too', 'one', {dark: true}, async tab => {
    await drawn(tab, 'progress');
    const look = `[getComputedStyle(document.body).backgroundColor,
        ${chart('progress')}.instance.getOption().yAxis[0].axisLabel.color]`;
    const dark = await tab.value(look);
    await tab.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'light'}]});
    for (let i = 0; i < 2; i++) await tab.until(`${look}[${i}] !== ${JSON.stringify(dark[i])}`);
});

all('on paper every chart is drawn', 'one', {}, async tab => {
    const pdf = await tab.pdf();
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    assert.equal(
        await tab.value(`[...document.querySelectorAll('.chart')].filter(each => !each.figure.instance).length`),
        0
    );
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
    for (const id of ids) {
        await drawn(tab, id);
        await tab.value(`(() => {
            const {instance} = ${chart(id)}, {series} = instance.getOption();
            series.forEach((_, seriesIndex) => [0, 1, 2].forEach(dataIndex =>
                instance.dispatchAction({type: 'showTip', seriesIndex, dataIndex})));
        })()`);
    }
    await look();
    await tab.value(`location.hash = '#job/1'`);
    await tab.until(`document.querySelector('main .error') !== null`);
    assert.equal(await tab.value(`typeof window.hacked`), 'undefined');
});

all('the gates are rows, the newest first', 'one', {}, async tab => {
    const rows = await tab.value(`[...document.querySelectorAll('#gates tbody tr')].map(each =>
        [...each.children].map(cell => cell.innerText).join('|'))`);
    assert.equal(rows.length, 2);
    assert.match(rows[0], /\|v1\.1\|M=2048\|same\|1\.0012\|0\.9998 to 1\.0025\|NVIDIA H200 · driver 580\.0 · nvrtc /);
    assert.match(rows[1], /\|v1\.0\|/);
});

const ODD = {
    failuresOnly: /None of 60 candidates has a time; the section Failures says why/,
    oneConfiguration: /two parameters with several values/,
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

all('48 jobs have rows that can be sorted and filtered', 'many', {}, async tab => {
    const names = `[...document.querySelectorAll('.overview tbody th a')].map(each => each.textContent)`;
    const press = name => `[...document.querySelectorAll('.overview thead th')].find(each =>
        each.textContent === '${name}').click()`;
    const search = text => `(() => { const input = document.querySelector('.dt-search input');
        input.value = '${text}'; input.dispatchEvent(new Event('input')); })()`;
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
    await tab.value(search('BF16_12'));
    await tab.until(`${names}.length === 2`);
    assert.deepEqual((await tab.value(names)).toSorted(), ['bf16_128', 'bf16_1280']);
    // A reader who comes back from a job finds the index as it was.
    await tab.value(`document.querySelector('.overview tbody a').click()`);
    await tab.until(`document.querySelector('.keys') !== null`);
    await tab.value(`location.hash = ''`);
    await tab.until(`document.querySelector('.overview') !== null`);
    assert.deepEqual((await tab.value(names)).toSorted(), ['bf16_128', 'bf16_1280']);
    await tab.value(search('slower'));
    await tab.until(`${names}.length > 2`);
    const slower = await tab.value(
        `[...document.querySelectorAll('.overview .badge')].map(each => each.textContent)`
    );
    assert.ok(slower.length > 0 && slower.every(word => word === 'Slower'), slower.join());
});

all('a page of a running job says so, and choices last from one view to the next', 'running', {}, async tab => {
    assert.match(await soundText(tab), /This job is being tuned/);
    await tab.value(choose('progress', 'evaluations'));
    await tab.value(`shown = null, show(), 0`);
    assert.equal(await tab.value(`document.querySelector('[data-choice="progress"]').value`), 'evaluations');
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
        ['final']
    ); // its table is below
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
    await tab.value(`[...document.querySelectorAll('nav a')].find(each => each.textContent === 'Counters').click()`);
    await tab.until(`Math.abs(document.getElementById('counters').getBoundingClientRect().top) < 200`);
    assert.equal(await tab.value('document.activeElement.id'), 'counters');
});

all('1000 of one unit of time are 1 of the next larger unit', 'one', {}, async tab =>
    assert.deepEqual(await tab.value(`[time(9.999999e-4), time(0.99999), duration(59.9)]`), ['1 ms', '1 s', '1 min'])
);

all('the command can be copied', 'one', {}, async tab => {
    await tab.value(`document.getElementById('copy').scrollIntoView(), document.getElementById('copy').click()`);
    const said = `document.querySelector('#reproduce [role=status]').textContent`;
    await tab.until(`${said} !== ''`);
    const text =
        (await tab.value(said)) === 'Copied.'
            ? await tab.value(`navigator.clipboard.readText().catch(() => null)`)
            : await tab.value('String(getSelection())');
    if (text !== null) assert.equal(text.trim(), VARIANTS.one().jobs[0].results[0].reproduce);
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

// The set-up ------------------------------------------------------------------------------------

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

// The program itself ----------------------------------------------------------------------------

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
        for (const id of ['progress', 'pair', 'counters', 'final']) {
            assert.ok(ids.includes(id), `${id} is missing: ${ids}`);
        }
        assert.match(await soundText(tab), /sgemm_2048[\s\S]*of 4,416 configurations|sgemm_2048/);
    });
});
