'use strict';
// How the page writes numbers and words, and how it makes elements. The page's scripts are concatenated in the order of
// the Makefile's PAGE_SCRIPTS and share one scope. Text from the data becomes text nodes, never markup.

const UNKNOWN = '–';

// el('td.number', {onclick: f}, 'text', node, ...). Classes follow the tag. Attributes may be missing, and those
// that are null or false are left out.
function el(tag, ...children) {
    const [name, ...classes] = tag.split('.'),
        node = document.createElement(name);
    const attributes = Object.getPrototypeOf(children[0] ?? node) === Object.prototype ? children.shift() : {};
    node.classList.add(...classes);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
        else node.setAttribute(key, value === true ? '' : value);
    }
    node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return node;
}

const known = value => typeof value === 'number' && Number.isFinite(value);
const knownOf = values => values.filter(known);
const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);

// Four significant digits, without trailing zeros: 0.3319, 1.5, 12,300.
function plain(value, digits = 4) {
    if (!known(value)) return UNKNOWN;
    const rounded = Number(value.toPrecision(digits)),
        size = Math.abs(rounded);
    if (size !== 0 && size < 1e-4) return rounded.toExponential().replace('e', '·10^');
    return rounded.toLocaleString('en-US', {maximumSignificantDigits: digits, useGrouping: size >= 1e4});
}

const PREFIXES = {P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e4}; // each from this size on

// 12,345,678 as "12.35 M", for ticks and counters.
function compact(value, digits = 4) {
    if (!known(value)) return UNKNOWN;
    for (const [letter, size] of Object.entries(PREFIXES))
        if (Math.abs(value) >= size) return `${plain(value / (letter === 'k' ? 1e3 : size), digits)} ${letter}`;
    return plain(value, digits);
}

const TIME_UNITS = Object.entries({s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9});

// The unit in which these times (in seconds) are shown: {unit, factor}, value * factor is in the unit. 1000 of one unit
// are shown as 1 of the next larger unit.
function timeUnit(values) {
    const smallest = least(knownOf(values).filter(value => value > 0));
    const [unit, size] =
        TIME_UNITS.find(([, each]) => smallest >= 0.99995 * each) ?? TIME_UNITS[smallest === Infinity ? 0 : 3];
    return {unit, factor: Math.round(1 / size)};
}

function time(seconds, digits = 4) {
    if (!known(seconds)) return UNKNOWN;
    if (seconds === 0) return '0 s';
    const {unit, factor} = timeUnit([Math.abs(seconds)]);
    return `${plain(seconds * factor, digits)} ${unit}`;
}

const timeInterval = value => (value ? `${time(value.value)} (${time(value.low)} to ${time(value.high)})` : UNKNOWN);

// "3 h 12 min", for times that a person waits.
function duration(seconds) {
    if (!known(seconds)) return UNKNOWN;
    if (seconds < 59.5) return `${plain(seconds, 2)} s`;
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

const count = value => (known(value) ? Math.round(value).toLocaleString('en-US') : UNKNOWN);
const number = (n, one, many) => `${count(n)} ${n === 1 ? one : (many ?? `${one}s`)}`;
const percent = (share, digits = 3) => (known(share) ? `${plain(100 * share, digits)}%` : UNKNOWN);
const times = ratio => (known(ratio) ? `${ratio.toFixed(ratio < 10 ? 3 : 1)}×` : UNKNOWN);

// A time in the short form of tables, without a year unless `year` is given.
function shortMoment(unix, year) {
    const form = {day: 'numeric', month: 'short', year, hour: '2-digit', minute: '2-digit'};
    return known(unix) ? new Date(unix * 1000).toLocaleString('en-GB', form) : UNKNOWN;
}
const moment = unix => shortMoment(unix, 'numeric');

// A parameter's value at an index of its list, and the names and values of all parameters: at(k) is the index of the
// k-th parameter's value.
const valueOf = (parameter, at) => String(parameter.values[at] ?? UNKNOWN);
const namedValues = (parameters, at) => parameters.map((each, k) => [each.name, valueOf(each, at(k))]);

// Names and values of a configuration, "BLOCK_M=64,BLOCK_N=128".
const settings = config =>
    (config ?? '')
        .split(/,(?=[^,=]+=)/)
        .filter(Boolean)
        .map(word => {
            const [name, ...value] = word.split('=');
            return [name, value.join('=')];
        });

// A configuration as a string; given another configuration, only the values that differ from it.
function configuration(config, from) {
    const other = new Map(settings(from)),
        all = settings(config);
    const differ = all.filter(([name, value]) => other.get(name) !== value);
    return (differ.length ? differ : all).map(([name, value]) => `${name}=${value}`).join(' ') || UNKNOWN;
}

const TABLE_ROWS = 200;

const NUMBER = /^(–|[-+]?[\d.,]+(·10\^-?\d+)?( ?[%×a-zA-Zµ]{1,3})?)$/;

// A table of strings and elements; columns of numbers are aligned right. Rows beyond TABLE_ROWS are left out, with a
// note.
function table(columns, rows, caption) {
    const shown = rows.slice(0, TABLE_ROWS),
        left = rows.length - shown.length;
    const numeric = columns.map((_, i) => (shown.every(row => NUMBER.test(row[i])) ? 'number' : null));
    const cell = (content, i) => (content?.nodeName === 'TD' ? content : el('td', {class: numeric[i]}, content));
    return el(
        'div.scroll',
        {tabindex: '0', role: 'region', 'aria-label': caption},
        el(
            'table',
            el('caption.hidden', caption),
            el(
                'thead',
                el(
                    'tr',
                    columns.map((name, i) => el('th', {scope: 'col', class: numeric[i]}, name))
                )
            ),
            el(
                'tbody',
                shown.map(row => el('tr', row.map(cell)))
            )
        ),
        left > 0
            ? el(
                  'p.note',
                  `The first ${count(TABLE_ROWS)} of ${count(rows.length)} rows. ` +
                      'All of them: sweetspot report --format json.'
              )
            : null
    );
}

// Names and values, one pair above the other.
function pairs(entries, attributes) {
    return el(
        'dl',
        attributes,
        entries
            .filter(([, value]) => value !== null && value !== undefined)
            .map(([name, value]) => el('div', el('dt', name), el('dd', value)))
    );
}

const memory = new Map(); // a reader's choices, so that a view that is shown again has them

// A control with its label.
const labelled = (label, control) => el('label.choice', el('span', label), control);

// A select with its label. `options`: [value, text], or an object of strings by value. The choice is remembered under
// `key`, and dropped if it is no longer an option. change(value) is called when another one is chosen.
function choice(label, key, options, otherwise, change) {
    const all = Array.isArray(options) ? options : Object.entries(options);
    const remembered = String(memory.get(key) ?? otherwise);
    const chosen = all.some(([value]) => String(value) === remembered) ? remembered : String(otherwise);
    const select = el(
        'select',
        {
            'data-choice': key,
            onchange: () => {
                memory.set(key, select.value);
                change(select.value);
            },
        },
        all.map(([value, text]) => el('option', {value, selected: String(value) === chosen}, text))
    );
    return {node: labelled(label, select), value: () => select.value, select};
}
