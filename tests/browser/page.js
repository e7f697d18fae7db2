// A report's page made from its template as `sweetspot report` makes it: each placeholder is alone on its line.
'use strict';

const fs = require('node:fs'),
    path = require('node:path');

const ROOT = path.join(__dirname, '..', '..');
const CHARTS = 'out/npm/node_modules/echarts';
const read = (...parts) => fs.readFileSync(path.join(ROOT, ...parts), 'utf8');

function makePage(data) {
    const parts = {
        '@STYLE@': () => read('tuner/report/page/report.css'),
        '@CHARTS@': () => read(CHARTS, 'dist/echarts.min.js'),
        '@CHARTS_LICENCE@': () =>
            `${read(CHARTS, 'LICENSE')}\n${read(CHARTS, 'NOTICE')}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
        '@SCRIPT@': () => read('out/page/report.js'),
        '@DATA@': () => JSON.stringify(data).replaceAll('</', '<\\/'),
    };
    return read('tuner/report/page/report.html')
        .split('\n')
        .map(line => parts[line]?.() ?? line)
        .join('\n');
}

const haveCharts = () => fs.existsSync(path.join(ROOT, CHARTS, 'dist/echarts.min.js'));

module.exports = {makePage, haveCharts, ROOT};
