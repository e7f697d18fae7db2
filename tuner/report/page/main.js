// The page: reads its data, and shows the index or the job that the address names.
//
// Addresses: "#" is the index; "#job/3" the fourth job; "#job/3/1" its second result; "#job/3/1/final" a section.

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

let shown, // the view that the page shows now
    overviewShown; // the index's elements

function show() {
    const main = document.getElementById('main'),
        {job, result, section} = route(),
        view = `${job}/${result}`;
    if (view !== shown) {
        forgetFigures();
        main.replaceChildren();
        if (report.unreadable) main.append(el('p.error', `The data of this page cannot be read: ${report.unreadable}`));
        else if (job === undefined) main.append(...(overviewShown ??= overview(report.jobs)));
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

report.jobs ??= [];
document.getElementById('made').textContent = known(report.made) ? moment(report.made) : '';
document.getElementById('program').textContent = report.program ? `Made by ${report.program}.` : '';
// The system's preference selects light or dark.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    everyFigure.forEach(each => each.instance && each.redraw())
);
addEventListener('beforeprint', () => everyFigure.forEach(each => each.draw()));
addEventListener('hashchange', show);
show();
