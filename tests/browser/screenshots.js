// Makes the pictures in docs/images: reports of searches on recordings, as PNG files of at most 150 KB each.
'use strict';

const fs = require('node:fs'),
    os = require('node:os'),
    path = require('node:path');
const {spawnSync} = require('node:child_process');
const {Chromium, wait} = require('./chromium.js');
const {makePage, ROOT} = require('./page.js');

const MOST_BYTES = 150 * 1024;
const PICTURES = [
    {name: 'report_index', page: 'index', width: 1160, height: 560},
    {name: 'report_job', page: 'job', width: 1000, height: 980},
    {name: 'report_final', page: 'job', width: 1000, height: 900, only: '#final figure'},
];
const RECORDED = '_h200.json.gz'; // recordings whose jobs are in configs/

// The program's report about searches on these recordings.
function replayed(folder, jobs) {
    const program = path.resolve(ROOT, process.env.BIN ?? 'out/bin', 'sweetspot');
    // Status 1: the final was undecided.
    const run = (...words) => {
        const {status, stdout, stderr} = spawnSync(program, words, {cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28});
        if (status !== 0 && status !== 1) throw new Error(`sweetspot ${words.join(' ')}: ${stderr}`);
        return stdout;
    };
    const stores = jobs.map(job => {
        const store = path.join(folder, `${job}.db`);
        const space = `replay:tests/spaces/${job}${RECORDED}`;
        run('tune', `configs/${job}.cfg`, '--device', space, '-n', '500', '-q', '--store', store);
        return store;
    });
    return JSON.parse(run('report', ...stores, '--format', 'json'));
}

async function main() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sweetspot-pictures-'));
    const images = path.join(ROOT, 'docs/images');
    const jobs = fs
        .readdirSync(path.join(ROOT, 'tests/spaces'))
        .filter(name => name.endsWith(RECORDED))
        .map(name => name.slice(0, -RECORDED.length));
    const pages = {index: path.join(folder, 'index.html'), job: path.join(folder, 'job.html')};
    fs.mkdirSync(images, {recursive: true});
    const report = replayed(folder, jobs);
    fs.writeFileSync(pages.index, makePage(report));
    fs.writeFileSync(pages.job, makePage({...report, jobs: report.jobs.filter(job => job.name === 'sgemm_2048')}));
    const browser = await Chromium.start();
    try {
        for (const {name, page, width, height, only} of PICTURES) {
            const tab = await browser.open(pages[page], {width, height});
            await wait(1500);
            if (only) await tab.value(`document.querySelector('${only}').scrollIntoView({block: 'center'})`);
            await wait(1000);
            const file = path.join(images, `${name}.png`);
            await tab.screenshot(file, only);
            const {size} = fs.statSync(file);
            console.log(`docs/images/${name}.png: ${size} bytes`);
            if (size > MOST_BYTES) throw new Error(`${file} has more than ${MOST_BYTES} bytes`);
            await tab.close();
        }
    } finally {
        await browser.stop();
        fs.rmSync(folder, {recursive: true, force: true});
    }
}

main().catch(error => {
    console.error(error.message);
    process.exitCode = 1;
});
