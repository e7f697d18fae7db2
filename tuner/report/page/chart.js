// Charts: colours, axes, tooltips, and figures, which are drawn when they come near the window.

// The colours are defined in the style sheet.
function palette() {
    const style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue(`--${name}`).trim();
    return {
        ink: colour('ink'),
        muted: colour('muted'),
        line: colour('line'),
        surface: colour('surface'),
        page: colour('page'),
        accent: colour('accent'),
        pale: colour('pale'),
        library: colour('library'),
        bad: colour('bad'),
        font: getComputedStyle(document.body).fontFamily,
    };
}

// The position between low and high on a logarithmic scale, 0..1.
const logShare = (value, low, high) => (high > low ? Math.log(value / low) / Math.log(high / low) : 0);

const WIDE = 30; // an axis is logarithmic if the ratio of its largest to its smallest value is at least this

// A value axis over these numbers, with room at its ends. Options: name, log (unset: chosen from the numbers), zero
// (begin at 0), and ECharts' own.
function axis(values, {name, log, zero, ...rest} = {}) {
    const some = knownOf(values),
        low = some.length ? least(some) : 0,
        high = some.length ? most(some) : 1,
        p = palette();
    const logarithmic = (log ?? (!zero && high / low >= WIDE)) && low > 0;
    const room = logarithmic
        ? Math.max((high / low) ** 0.04, 1.02)
        : (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
    const min = logarithmic ? low / room : zero || (low >= 0 && low < room) ? Math.min(low, 0) : low - room;
    return {
        type: logarithmic ? 'log' : 'value',
        min,
        max: logarithmic ? high * room : high + room,
        name,
        nameLocation: 'middle',
        nameGap: 10,
        nameTextStyle: {color: p.muted},
        axisLine: {show: false, onZero: false},
        axisTick: {show: false},
        axisLabel: {
            color: p.muted,
            formatter: value => compact(value),
            hideOverlap: true,
            showMinLabel: min === 0,
            showMaxLabel: false,
        },
        splitLine: {lineStyle: {color: p.line}, showMinLine: min === 0, showMaxLine: false},
        ...rest,
    };
}

// An axis with strings.
function categories(data, {name, label, ...rest} = {}) {
    const p = palette();
    return {
        type: 'category',
        data,
        name,
        nameLocation: 'middle',
        nameGap: 10,
        nameTextStyle: {color: p.muted},
        axisLine: {lineStyle: {color: p.line}},
        axisTick: {show: false},
        axisLabel: {color: p.muted, hideOverlap: true, ...label},
        splitLine: {show: false},
        ...rest,
    };
}

// A straight line across a chart, for markLine's data: at = {xAxis: v} or {yAxis: v}.
function ruler(at, text, colour, position = 'insideEndTop') {
    return {
        ...at,
        lineStyle: {color: colour, type: 'dashed', width: 1},
        label: {formatter: () => text, color: colour, position, fontSize: 11, lineHeight: 14},
    };
}

const rulers = data => ({silent: true, symbol: 'none', animation: false, data});

// Intervals as lines with ends, for points [low, high, y].
function whiskers(data, colour) {
    return {
        type: 'custom',
        silent: true,
        z: 1,
        data,
        encode: {x: [0, 1], y: 2},
        tooltip: {show: false},
        renderItem(params, api) {
            const [x1, y] = api.coord([api.value(0), api.value(2)]),
                [x2] = api.coord([api.value(1), api.value(2)]);
            const style = {stroke: colour(params.dataIndex), lineWidth: 1.5};
            const end = x => ({type: 'line', shape: {x1: x, y1: y - 4, x2: x, y2: y + 4}, style});
            return {
                type: 'group',
                children: [{type: 'line', shape: {x1, y1: y, x2, y2: y}, style}, end(x1), end(x2)],
            };
        },
    };
}

const everyFigure = new Set(); // the figures of the view that is shown

const watcher = new IntersectionObserver(
    entries =>
        entries.forEach(entry => {
            if (entry.isIntersecting) entry.target.figure.draw();
        }),
    {rootMargin: '200px'}
);
const sizes = new ResizeObserver(entries => entries.forEach(entry => entry.target.figure.instance?.resize()));

// A figure under `parent`. Its specification:
//   title     what is shown                    label     the same for screen readers, with the main figure
//   note      one sentence below the title     height    in CSS pixels
//   controls  elements above the chart         option()  ECharts' options
//   about(i)  names and texts of the i-th mark, for its tooltip and a table below
//   marks()   how many there are; missing: no table
// Returns {draw, redraw, box, instance}.
function figure(parent, spec) {
    const canvas = el('div.chart', {role: 'img', 'aria-label': spec.label ?? spec.title});
    canvas.style.height = `${spec.height ?? 300}px`;
    const note = el('p.note', spec.note ?? '');
    const numbers = el('details.figures', el('summary', 'Figures'));
    const fill = () => {
        const rows = Array.from({length: spec.marks()}, (_, i) => spec.about(i));
        const [columns, texts] = [rows[0]?.map(([name]) => name) ?? [], rows.map(row => row.map(([, text]) => text))];
        numbers.replaceChildren(numbers.firstChild, table(columns, texts, spec.title));
    };
    numbers.addEventListener('toggle', () => numbers.open && fill());
    const box = el(
        'figure',
        {'data-chart': spec.id},
        el('figcaption', spec.title),
        note,
        spec.controls ? el('div.controls', spec.controls) : null,
        el('div', canvas),
        spec.marks ? numbers : null
    );
    parent.append(box);
    const self = {
        box,
        instance: null,
        draw() {
            if (!self.instance) self.redraw();
        },
        redraw() {
            const p = palette(),
                option = spec.option();
            if (!self.instance) self.instance = echarts.init(canvas, null, {renderer: 'canvas'});
            else self.instance.resize();
            // Painting is not spread over frames, because the rest of it would fail when a chart is removed.
            const whole = {
                animation: false,
                progressive: 0,
                textStyle: {fontFamily: p.font, color: p.ink},
                ...option,
                grid: option.grid ?? GRID,
                tooltip: {
                    confine: true,
                    backgroundColor: p.surface,
                    borderColor: p.line,
                    padding: 10,
                    textStyle: {color: p.ink, fontSize: 12},
                    extraCssText: 'box-shadow: 0 2px 8px #0003',
                    // An element, so that names are never markup.
                    formatter: marks => el('div.tip', pairs(spec.about([marks].flat()[0].dataIndex))),
                    ...option.tooltip,
                },
            };
            self.instance.setOption(whole, {notMerge: true});
            if (!performance.getEntriesByName('first chart').length) performance.mark('first chart');
        },
        dispose() {
            self.instance?.dispose();
            self.instance = null;
        },
        // After a choice: updates the note, the chart and the table.
        renew() {
            if (typeof spec.renewed === 'function') note.textContent = spec.renewed();
            if (self.instance) self.redraw();
            if (numbers.open) fill();
        },
    };
    if (typeof spec.renewed === 'function') note.textContent = spec.renewed();
    canvas.figure = self;
    everyFigure.add(self);
    watcher.observe(canvas);
    sizes.observe(canvas);
    return self;
}

// Names and labels of axes lie within the chart's edges.
const GRID = {left: 4, right: 20, top: 20, bottom: 4, outerBoundsMode: 'same', outerBoundsContain: 'all'};

function forgetFigures() {
    for (const each of everyFigure) each.dispose();
    everyFigure.clear();
    watcher.disconnect();
    sizes.disconnect();
}

// Shown in place of a chart when there is nothing to draw: the reason, and the command to run.
const absent = (...text) => el('p.absent', text);
