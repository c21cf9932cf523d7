// A link that does harm is cured in the lab: measured before, predicted by a diagnosis, cured, measured again.
import { html, useEffect, useRef, useState } from '../html.js';
import { ApiError, ask, get, url, why } from '../api.js';
import { format } from '../format.js';
import { useTitles } from '../result/titles.js';
import { ratesOf, splitter } from '../test/run.js';
import { harm, nameOf } from './judge.js';
import { follow } from './live.js';

const seconds = 6; // of each transfer: as long as a diagnosis takes for one

/**
 * @typedef {{doing: string, before: import('./live.js').Seen | null, diagnosis: DiagnosisDoc | null, unknown: string,
 *   cured: string, after: import('./live.js').Seen | null, error: string}} Fixed
 */

/** @param {{lab: LabDoc, link: LabLink, act: (path: string[], doc: unknown) => Promise<string>}} props */
export function Fix({ lab, link, act }) {
  const hosts = lab.nodes.filter((n) => n.kind === 'host').map((n) => n.name);
  const end = link.between.find((n) => hosts.includes(n)) ?? hosts.at(-1) ?? '';
  const [way, choose] = useState({ from: hosts.find((h) => h !== end) ?? '', to: end });
  const [fixed, show] = useState(/** @type {Fixed | null} */ (null));
  const stopper = useRef(new AbortController());
  useEffect(() => () => stopper.current.abort(), []); // the controller ends what nobody watches
  const keys = harm(link);
  if (hosts.length < 2 || (!keys.length && !fixed)) return null;
  const start = async () => {
    stopper.current = new AbortController();
    await cure(lab.name, way, link, keys, act, stopper.current.signal, show);
  };
  /** @param {'from' | 'to'} name */
  const field = (name) => html`<label>${name} <select name=${'fix-' + name} value=${way[name]} onChange=${(/** @type {any} */ e) => choose({ ...way, [name]: e.target.value })}>
    ${hosts.map((h) => html`<option key=${h}>${h}</option>`)}</select></label>`;
  return html`<section class="fix" aria-labelledby="fix"><h3 id="fix">Fix it in the lab</h3>
    ${keys.length > 0 && html`<p>It has ${keys.join(', ')}. A transfer is measured, a diagnosis says what it would come to without its cause, the link is
      cured, and the transfer measured again. Undo brings the fault back.</p>`}
    <div class="controls">${field('from')} ${field('to')}
      ${fixed?.doing ? html`<button type="button" key="stop" onClick=${() => stopper.current.abort()}>Stop</button>`
        : html`<button type="button" key="fix" disabled=${!keys.length || way.from === way.to} onClick=${start}>Fix it in the lab</button>`}</div>
    ${fixed && html`<${Outcome} fixed=${fixed} />`}</section>`;
}

/**
 * @param {string} lab
 * @param {{from: string, to: string}} way
 * @param {LabLink} link
 * @param {string[]} keys that do harm
 * @param {(path: string[], doc: unknown) => Promise<string>} act
 * @param {AbortSignal} signal
 * @param {(f: Fixed) => void} show
 */
async function cure(lab, way, link, keys, act, signal, show) {
  /** @type {Fixed} */
  let fixed = { doing: 'measuring', before: null, diagnosis: null, unknown: '', cured: '', after: null, error: '' };
  /** @param {Partial<Fixed>} more */
  const add = (more) => show((fixed = { ...fixed, ...more }));
  const wanted = { kind: 'throughput', ...way, seconds };
  try {
    add({});
    await follow(lab, wanted, signal, (before) => add({ before }));
    if (fixed.before?.error) throw new Error(fixed.before.error);
    signal.throwIfAborted();
    add({ doing: 'asking a diagnosis what the cure will bring, which takes half a minute' });
    try {
      add({ diagnosis: await diagnosed(lab, way, signal) });
    } catch (e) {
      signal.throwIfAborted();
      add({ unknown: e instanceof Error ? e.message : String(e) });
    }
    const failed = await act(['links', String(link.number)], { direction: 'both', settings: keys.map((k) => k + '=') });
    if (failed) throw new Error(failed);
    add({ doing: 'measuring again', cured: `${keys.join(', ')} taken from link ${nameOf(link)}` });
    await follow(lab, wanted, signal, (after) => add({ after }));
    if (fixed.after?.error) throw new Error(fixed.after.error);
  } catch (e) {
    add({ error: signal.aborted ? 'Stopped.' : e instanceof Error ? e.message : String(e) });
  }
  add({ doing: '' });
}

/**
 * What is found by a diagnosis: of hosts that are the mesh's, too, by the mesh, whose other tests keep away from it meanwhile; of others over
 * the lab itself.
 * @param {string} lab @param {{from: string, to: string}} way @param {AbortSignal} signal @returns {Promise<DiagnosisDoc>}
 */
async function diagnosed(lab, way, signal) {
  const { hosts } = await get('api/v1/hosts', signal);
  const known = [way.from, way.to].every((name) => hosts.some((/** @type {HostDoc} */ h) => h.name === name));
  const [path, wanted] = known ? [['diagnoses'], { source: way.from, target: way.to }] : [['labs', lab, 'tests'], { kind: 'diagnosis', ...way, seconds }];
  const answer = await ask(url(path), { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(wanted) });
  if (!answer.ok) throw new ApiError(answer.status, await why(answer));
  const lines = splitter()(await answer.text() + '\n');
  const found = lines.find((l) => l.diagnosis)?.diagnosis;
  if (!found) throw new Error(lines.findLast((l) => l.error)?.error ?? 'the diagnosis came to nothing');
  return found;
}

/** @param {import('./live.js').Seen | null} seen */
const rateOf = (seen) => seen?.result?.metrics.throughput_bits_per_second;

/** @param {{fixed: Fixed}} props */
function Outcome({ fixed }) {
  const { doing, before, diagnosis, unknown, cured, after, error } = fixed;
  const title = useTitles();
  const first = diagnosis?.findings?.find((f) => f.severity !== 'info');
  const predicted = first?.predicted?.throughput_bits_per_second;
  const rows = [['before', rateOf(before)], ['predicted', predicted], ['after', rateOf(after)]];
  return html`<p role="status">${doing ? `Now ${doing} …` : error ? '' : 'Done.'}</p>
    ${error && html`<p class="failure" role="alert">${error}</p>`}
    <${Lines} before=${before} after=${after} predicted=${predicted} />
    <dl class="fix-rates">${rows.map(([name, rate]) => html`<div key=${name}><dt>${name}</dt><dd data-bits=${rate ?? ''}>${rate === undefined ? '–' : format(/** @type {number} */ (rate), 'bits_per_second')}</dd></div>`)}</dl>
    ${diagnosis && html`<p>The diagnosis: <strong>${title(diagnosis.verdict)}</strong>.${first?.predicted && ` Predicted by ${first.predicted.basis}.`}</p>`}
    ${unknown && html`<p class="note">Nothing was predicted: ${unknown}.</p>`}
    ${cured && html`<p>Cured: ${cured}.</p>`}`;
}

const [width, height] = [480, 120];

/** The rate before and after the cure, and what was predicted. @param {{before: import('./live.js').Seen | null, after: import('./live.js').Seen | null, predicted: number | undefined}} props */
function Lines({ before, after, predicted }) {
  const points = [before, after].map((seen) => ratesOf(seen?.intervals ?? []).find((r) => r.direction === 'forward')?.points ?? []);
  const most = 1.1 * Math.max(predicted ?? 0, 1, ...points.flat().map((p) => p.y));
  /** @param {number} part @param {{x: number, y: number}} p */
  const at = (part, p) => `${((p.x / seconds + part) * width) / 2},${height * (1 - p.y / most)}`;
  const y = height * (1 - (predicted ?? 0) / most);
  return html`<svg class="fix-lines" viewBox=${`0 0 ${width} ${height}`} role="img" aria-label="The rate before the cure, on the left, and after it; the dashed line is what was predicted">
    <line class="cut" x1=${width / 2} x2=${width / 2} y1="0" y2=${height} />
    ${predicted !== undefined && html`<line class="predicted" x1="0" x2=${width} y1=${y} y2=${y} />`}
    ${points.map((all, part) => html`<polyline key=${part} points=${all.map((p) => at(part, p)).join(' ')} />`)}
    <text x="4" y=${height - 5}>before</text><text x=${width / 2 + 4} y=${height - 5}>after</text>
    ${predicted !== undefined && html`<text x=${width / 2 - 4} y=${y + 13} text-anchor="end">predicted</text>`}</svg>`;
}
