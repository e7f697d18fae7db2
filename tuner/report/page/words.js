// The program's words: verdicts of finals, statuses of trials.

// The word, its meaning, and the word in a summary if that differs.
const VERDICTS = {
    faster: ['Faster', 'The interval of the ratio lies above 1.'],
    tie: ['Tie', 'As fast as the library, within what the job calls a tie.'],
    slower: ['Slower', 'The interval of the ratio lies below 1.'],
    undecided: ['Undecided', 'The final did not decide.'],
    'no final': ['No final', 'The final has not been run.', 'without a final'],
    'no library': ['No library', 'There is no library to compare with.', 'without a library'],
    'not verified': ['NOT VERIFIED', 'the job has verification.enabled = false', 'not verified'],
};
const verdictWord = verdict => VERDICTS[verdict]?.[0] ?? verdict ?? UNKNOWN;
const badge = verdict =>
    el(
        'span',
        {class: `badge ${(verdict ?? 'none').replace(/[^a-z]/g, '-')}`, title: VERDICTS[verdict]?.[1]},
        verdictWord(verdict)
    );

// How a command line names the job.
const fileOf = job => job.job_file ?? 'JOB.cfg';

const FINE = ['ok', 'slow', 'pruned']; // not failures
const failureKinds = counts =>
    Object.entries(counts ?? {})
        .filter(([status, n]) => !FINE.includes(status) && n > 0)
        .sort(([, a], [, b]) => b - a);
const failureCount = counts => failureKinds(counts).reduce((sum, [, n]) => sum + n, 0);
