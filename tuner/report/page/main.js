// The page: reads its data, shows the index or the job that the address names, and keeps itself up to date.
//
// Addresses: "#" is the index; "#job/3" the fourth job; "#job/3/1" its second result; "#job/3/1/final" a section.

const RENEW_MILLISECONDS = 60000;

const report = (() => {
    try {
        return JSON.parse(document.getElementById('data').textContent);
    } catch (error) {
        return {jobs: [], unreadable: error.message};
    }
})();

function route() {
    const [word, ...rest] = location.hash.slice(1).split('/');
    if (word !== 'job') return report.jobs.length === 1 ? {job: 0, result: 0} : {};
    const [job, result] = rest.map(Number);
    return report.jobs[job] ? {job, result: report.jobs[job].results?.[result] ? result : 0, section: rest[2]} : {};
}

let shown; // the view of the page now

function show() {
    const main = document.getElementById('main'),
        {job, result, section} = route(),
        view = `${job}/${result}`;
    if (view !== shown) {
        forgetFigures();
        main.replaceChildren();
        if (report.unreadable) main.append(el('p.error', `The data of this page cannot be read: ${report.unreadable}`));
        else if (job === undefined) showOverview(main, report.jobs);
        else showJob(main, report.jobs, job, result);
        document.title = job === undefined ? 'sweetspot report' : `${report.jobs[job].name} – sweetspot report`;
        if (shown !== undefined) scrollTo(0, 0);
        shown = view;
    }
    const target = section && document.getElementById(section);
    if (target) {
        target.scrollIntoView();
        target.focus({preventScroll: true});
    }
}

// Light and dark: the system's preference, until the button is pressed.
function initTheme() {
    const button = document.getElementById('theme'),
        system = matchMedia('(prefers-color-scheme: dark)');
    let stored = null;
    try {
        stored = localStorage.getItem('sweetspot theme');
    } catch {
        /* no storage */
    }
    const apply = () => {
        const dark = stored ? stored === 'dark' : system.matches;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        button.setAttribute('aria-pressed', String(dark));
        button.textContent = dark ? 'Light' : 'Dark';
        for (const each of everyFigure) if (each.instance) each.redraw();
    };
    button.addEventListener('click', () => {
        stored = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
        try {
            localStorage.setItem('sweetspot theme', stored);
        } catch {
            /* as above */
        }
        apply();
    });
    system.addEventListener('change', apply);
    apply();
}

// On paper: light, every chart drawn, as wide as the sheet.
function initPrint() {
    let before;
    addEventListener('beforeprint', () => {
        before = document.documentElement.dataset.theme;
        document.documentElement.dataset.theme = 'light';
        document.documentElement.classList.add('printing');
        for (const each of everyFigure) each.redraw();
    });
    addEventListener('afterprint', () => {
        document.documentElement.dataset.theme = before;
        document.documentElement.classList.remove('printing');
        for (const each of everyFigure) each.redraw();
    });
}

// While a job runs, the page is reloaded. The browser keeps the scroll position, and `memory` the choices.
function initRenewal() {
    if (report.jobs.some(job => job.running)) setInterval(() => location.reload(), RENEW_MILLISECONDS);
}

report.jobs ??= [];
document.getElementById('made').textContent = known(report.made) ? moment(report.made) : '';
document.getElementById('program').textContent = report.program ? `Made by ${report.program}.` : '';
initTheme();
initPrint();
addEventListener('hashchange', show);
show();
initRenewal();
