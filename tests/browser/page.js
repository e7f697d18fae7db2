// Makes a report's page from its template, as `sweetspot report` does. Each placeholder is alone on its line.
'use strict';

const fs = require('node:fs'),
    path = require('node:path');

const ROOT = path.join(__dirname, '..', '..');
const CHARTS = 'out/npm/report';
const read = (...parts) => fs.readFileSync(path.join(ROOT, ...parts), 'utf8');

function makePage(data) {
    const parts = {
        '@STYLE@': () => read('tuner/report/page/report.css'),
        '@CHARTS@': () => read(CHARTS, 'libraries.js'),
        '@CHARTS_LICENCE@': () => read(CHARTS, 'LICENSES').replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
        '@SCRIPT@': () => read('out/page/report.js'),
        '@DATA@': () => JSON.stringify(data).replaceAll('</', '<\\/'),
    };
    return read('tuner/report/page/report.html')
        .split('\n')
        .map(line => parts[line]?.() ?? line)
        .join('\n');
}

module.exports = {makePage, ROOT};
