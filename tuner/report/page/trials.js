// All trials as a table by DataTables, which sorts, searches and pages it. It is made when it comes near the window.

// DataTables displays cells as markup. `found`: the text that a search finds; times are not searched, because writing
// 100,000 of them takes seconds.
const trialCell =
    (text, found = text) =>
    (value, type) =>
        type === 'display' ? DataTable.render.text().display(text(value)) : type === 'filter' ? found(value) : value;

function showTrials(parent, result) {
    const {trials} = result,
        parameters = result.parameters ?? [],
        shown = trials?.trial?.length ?? 0;
    if (!shown) return 'There are no trials.';
    const node = el(
        'table.trials',
        el('caption.hidden', 'All trials'),
        el(
            'thead',
            el(
                'tr',
                ['Trial', 'Time', 'Status', ...parameters.map(each => each.name)].map(name => el('th', name))
            )
        )
    );
    const self = {
        instance: null,
        draw() {
            self.instance ??= new DataTable(node, {
                data: trials.trial.map((trial, i) => [
                    trial,
                    trials.time[i] ?? Infinity,
                    trials.status[i],
                    ...trials.values.map(each => each[i]),
                ]),
                columns: [
                    {className: 'number', type: 'num', defaultContent: UNKNOWN},
                    {
                        className: 'number',
                        type: 'num',
                        render: trialCell(
                            value => time(value),
                            () => ''
                        ),
                    },
                    {type: 'string', render: trialCell(String)},
                    ...parameters.map(({values}) => ({
                        type: 'num', // in the job's order
                        render: trialCell(at => valueOf({values}, at)),
                    })),
                ],
                order: [[1, 'asc']],
                autoWidth: false,
                orderClasses: false,
                pageLength: 25,
                lengthMenu: [10, 25, 100],
                language: {
                    search: 'Search',
                    lengthMenu: 'Rows _MENU_',
                    info: '_START_ to _END_ of _TOTAL_ trials',
                    infoFiltered: '(of _MAX_)',
                    infoEmpty: 'no trials',
                },
            });
        },
        redraw() {},
        dispose() {
            self.instance?.destroy();
            self.instance = null;
        },
    };
    const left =
        shown < trials.of
            ? `${count(shown)} of ${count(trials.of)} trials, evenly spread. All of them are in the store.`
            : `${number(shown, 'trial')}. Click a column's name to sort by it.`;
    parent.append(el('p.note', left), el('div.scroll', node));
    node.figure = self;
    everyFigure.add(self);
    watcher.observe(node);
}
