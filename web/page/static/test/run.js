// What is known of a test or a diagnosis while it goes on, from the lines that the controller says of it. Pure.

/** @typedef {{what: 'test' | 'diagnose', source: string, target: string, tool: string, kind: string, parameters: Record<string, string>, patience: number, seconds: number}} Ask */
/**
 * One run: of a test, or of a step of a diagnosis.
 * @typedef {{state: 'asked' | 'waiting' | 'running' | 'done' | 'failed' | 'stopped', id: string, begins: number, echoes: Echo[],
 *   intervals: Interval[], rounds: RoundsSample | null, lines: string[], result: ResultDoc | null, error: string, seconds: number}} Run
 */
/** @typedef {Run & {step: string, tool: string, why: string}} Step */
/**
 * @typedef {{ask: Ask, state: 'going' | 'done' | 'failed' | 'stopped', run: Run, steps: Step[], diagnosis: DiagnosisDoc | null,
 *   id: string, error: string, status: number}} Work
 * run is of a test, steps are of a diagnosis; status is that of HTTP, 0 where the error came later.
 */

/** @param {number} seconds @returns {Run} */
const newRun = (seconds) => ({ state: 'asked', id: '', begins: 0, echoes: [], intervals: [], rounds: null, lines: [], result: null, error: '', seconds });

/** @param {Ask} ask @returns {Work} */
export const begun = (ask) => ({ ask, state: 'going', run: newRun(ask.seconds), steps: [], diagnosis: null, id: '', error: '', status: 0 });

const mostLines = 200; // of what a program prints; the Result has all

/** @param {Run} run @param {Progress} p @returns {Run} */
function shown(run, p) {
  const r = { ...run, state: /** @type {Run['state']} */ ('running') };
  if (p.echo) r.echoes = [...r.echoes, p.echo];
  if (p.interval) r.intervals = [...r.intervals, p.interval];
  if (p.rounds) r.rounds = p.rounds;
  if (p.line) r.lines = [...r.lines, p.line].slice(-mostLines);
  if (!p.result) return r;
  return { ...r, result: p.result, id: p.result.id, state: p.result.status === 'failed' ? 'failed' : 'done', error: p.result.error ?? '' };
}

/** @param {Run} run @param {RunLine} line @returns {Run} */
function moved(run, line) {
  if (line.progress) return shown(run, line.progress);
  const r = { ...run };
  if (line.run) r.id = line.run;
  if (line.begins) r.begins = Date.parse(line.begins);
  if (line.begins && !line.state) r.state = 'waiting';
  if (line.state) r.state = line.state;
  if (line.error) r.error = line.error;
  return r;
}

/**
 * What is known after another line.
 * @param {Work} work
 * @param {RunLine} line
 * @returns {Work}
 */
export function told(work, line) {
  if (line.plan) {
    return { ...work, steps: line.plan.map((p) => ({ ...newRun(p.seconds), ...work.steps.find((s) => s.step === p.step), ...p })) };
  }
  if (line.step) return { ...work, steps: work.steps.map((s) => (s.step === line.step ? { ...s, ...moved(s, line) } : s)) };
  if (line.diagnosis) return { ...work, diagnosis: line.diagnosis, id: line.id ?? '', state: 'done' };
  if (line.error) return ended(work, 'failed', line.error);
  const run = moved(work.run, line);
  return { ...work, run, id: run.id, state: run.result ? (run.state === 'failed' ? 'failed' : 'done') : 'going', error: run.error };
}

/**
 * @param {Work} work
 * @param {'failed' | 'stopped'} state
 * @param {string} [error]
 * @param {number} [status]
 * @returns {Work}
 */
export function ended(work, state, error = '', status = 0) {
  const open = (/** @type {Run} */ r) => r.state === 'asked' || r.state === 'waiting' || r.state === 'running';
  /** @template {Run} R @param {R} r @returns {R} */
  const end = (r) => (open(r) ? { ...r, state: r.state === 'asked' && work.ask.what === 'diagnose' ? 'asked' : state } : r);
  return { ...work, state, error, status, run: end(work.run), steps: work.steps.map(end) };
}

/**
 * Cuts text into lines, wherever the pieces that it comes in are cut: returns what takes a piece and gives the documents whose
 * lines are whole.
 */
export function splitter() {
  let rest = '';
  return (/** @type {string} */ piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    return lines.filter((l) => l.trim()).map((l) => /** @type {RunLine} */ (JSON.parse(l)));
  };
}

/** @param {(number | null)[]} all */
function median(all) {
  const some = /** @type {number[]} */ (all.filter((v) => v !== null)).sort((a, b) => a - b);
  return some.length ? some[some.length >> 1] : null;
}

/**
 * What a run shows so far: echoes and their median, or rates.
 * @param {Run} run
 */
export function sofar(run) {
  const lost = run.echoes.filter((e) => e.rtt_seconds === null).length;
  return { echoes: run.echoes.length, lost, median: median(run.echoes.map((e) => e.rtt_seconds)), rates: ratesOf(run.intervals) };
}

/**
 * The rate of all streams together, interval by interval, in each direction, as the receiver counted it where it did.
 * @param {Interval[]} intervals
 * @returns {{direction: string, points: {x: number, y: number, width: number}[]}[]}
 */
export function ratesOf(intervals) {
  return ['forward', 'reverse'].flatMap((direction) => {
    const way = intervals.filter((i) => i.direction === direction);
    if (!way.length) return [];
    const end = way.some((i) => i.end === 'receiver') ? 'receiver' : 'sender';
    const counted = way.filter((i) => i.end === end);
    const of = counted.some((i) => i.stream === 0) ? counted.filter((i) => i.stream === 0) : counted;
    /** @type {Map<number, {x: number, y: number, width: number}>} */
    const sums = new Map();
    for (const i of of) {
      const at = sums.get(i.end_seconds) ?? { x: i.end_seconds, y: 0, width: i.end_seconds - i.start_seconds };
      sums.set(i.end_seconds, { ...at, y: at.y + i.bits_per_second });
    }
    return [{ direction, points: [...sums.values()].sort((a, b) => a.x - b.x) }];
  });
}

/**
 * The mean rate of intervals, each weighed by how long it is: the last one of a test is often short.
 * @param {{y: number, width: number}[]} points
 */
export function meanOf(points) {
  const seconds = points.reduce((s, p) => s + p.width, 0);
  return points.reduce((s, p) => s + p.y * (seconds > 0 ? p.width / seconds : 1 / points.length), 0);
}
