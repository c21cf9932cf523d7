// What one may choose in the overview. All of it is in the URL.
import { html, useEffect, useRef, useState } from '../html.js';
import { grouped } from '../metrics.js';
import { change } from '../router.js';
import { parseLength, rfc, when, zoneName } from '../times.js';
import { largest } from './layout.js';
import { unitOf } from '../format.js';

/** Spans that a value is taken over, as the API reads them. */
export const spans = { '10m': '10 minutes', '1h': '1 hour', '6h': '6 hours', '24h': '1 day' };

/**
 * @typedef {{metric: string, span: string, at: number | null, past: boolean, warn: number | null, bad: number | null,
 *   size: number, table: boolean, test: string, tool: string}} Choice
 */

/** The choice of all metrics at once, now: what is wrong. */
export const health = 'health';

/** What can be chosen of one metric alone, so that an address that has it is of one. */
const narrowing = ['at', 'span', 'colour', 'warn', 'bad', 'test', 'tool'];

/**
 * @param {URLSearchParams} q
 * @returns {Choice}
 */
export function choiceOf(q) {
  /** @param {string} name */
  const number = (name) => (q.get(name) && Number.isFinite(Number(q.get(name))) ? Number(q.get(name)) : null);
  const at = Date.parse(q.get('at') ?? '');
  const span = q.get('span') ?? '1h';
  return {
    metric: q.get('metric') ?? (narrowing.some((k) => q.has(k)) ? 'rtt_median_seconds' : health), span: span in spans ? span : '1h', at: Number.isNaN(at) ? null : at,
    past: q.get('colour') === 'past', warn: number('warn'), bad: number('bad'),
    size: Math.max(0, Math.min(largest, number('size') ?? 0)), table: q.get('view') === 'table', test: q.get('test') ?? '', tool: q.get('tool') ?? '',
  };
}

/** The unit in which limits of a metric are typed. @param {string} unit @returns {[number, string]} */
function typed(unit) {
  return /** @type {Record<string, [number, string]>} */ ({ seconds: [1e-3, 'ms'], bits_per_second: [1e6, 'Mbit/s'], ratio: [1e-2, '%'], bytes: [1, 'bytes'] })[unit] ?? [1, unit];
}

/** Metrics of pairs: what hosts measure of themselves is on their pages. @param {Measured[]} measured */
const ofPairs = (measured) => measured.map((m) => m.metric).filter((m) => !m.startsWith('host_'));

/** @param {{choice: Choice, limits: import('./judge.js').Limits | null, better: string, measured: Measured[]}} props measured: in any role that the matrix shows */
export function Controls({ choice, limits, better, measured }) {
  /** @param {string} name @returns {(e: any) => void} */
  const pick = (name) => (e) => change({ [name]: e.target.value, ...(name === 'metric' ? { warn: null, bad: null } : {}),
    ...(e.target.value === health && { metric: null, at: null, span: null, colour: null, test: null, tool: null }) });
  const all = choice.metric === health;
  return html`<div class="controls">
    <label>Metric <select value=${choice.metric} onChange=${pick('metric')}>
      <option value=${health}>Health, of all metrics</option>
      ${grouped([...(all ? [] : [choice.metric]), ...ofPairs(measured)]).map((g) => html`<optgroup label=${g.group}>${g.metrics.map((m) => html`<option value=${m.name}>${m.label}</option>`)}</optgroup>`)}
    </select></label>
    ${!all && html`<label>Over <select value=${choice.span} onChange=${pick('span')}>
      ${Object.entries(spans).map(([v, text]) => html`<option value=${v}>${text}</option>`)}</select></label>
    <label>Colour by <select value=${choice.past ? 'past' : 'limits'} onChange=${(/** @type {any} */ e) => change({ colour: e.target.value === 'past' ? 'past' : null })}>
      <option value="limits">limits</option><option value="past">the pair's last 7 days</option></select></label>`}
    ${!all && !choice.past && limits && html`
      <${Limit} name="warn" word="Warning" choice=${choice} value=${limits.warn} />
      <${Limit} name="bad" word="Bad" choice=${choice} value=${limits.bad} />
      ${limits.source === 'chosen' && html`<button type="button" onClick=${() => change({ warn: null, bad: null })}>Default limits</button>`}
      ${limits.source === 'matrix' && html`<span class="quiet">limits: ${better === 'high' ? 'four fifths and half of the middle one shown' : 'the worst fifth and twentieth shown'}</span>`}`}
    <button type="button" aria-pressed=${String(choice.table)} onClick=${() => change({ view: choice.table ? null : 'table' })}>Table</button>
    ${(choice.test || choice.tool) && html`<button type="button" onClick=${() => change({ test: null, tool: null })}
      >only ${[choice.test, choice.tool].filter(Boolean).join(', ')} ×<span class="hidden"> show all</span></button>`}
  </div>`;
}

/** How wide a field is that has all of a number, beside what steps it up and down. @param {number} v */
const wideFor = (v) => `calc(${Math.max(4, String(v).length)}ch + 2.6em)`;

/** @param {{name: 'warn' | 'bad', word: string, choice: Choice, value: number}} props */
function Limit({ name, word, choice, value }) {
  const [factor, unit] = typed(unitOf(choice.metric));
  const shown = Number((value / factor).toPrecision(6));
  /** @param {any} e */
  const set = (e) => change({ [name]: e.target.value === '' ? null : Number((e.target.valueAsNumber * factor).toPrecision(6)) });
  return html`<label><span class=${'key ' + name} aria-hidden="true">${name === 'warn' ? '•' : '×'}</span> ${word} from <input type="number" step="any" min="0" style=${{ width: wideFor(shown) }} value=${shown} onChange=${set} /> ${unit}</label>`;
}

const most = 168; // steps back: a week of hours

/**
 * Goes back and forth in time, a span at a time. It tells the time that is shown, which may be another than was asked for.
 * @param {{choice: Choice, shown: import('./model.js').Model | null}} props
 */
export function Timeline({ choice, shown }) {
  const step = parseLength(choice.span) ?? 3600e3;
  const last = Math.floor(Date.now() / step) * step;
  const back = choice.at === null ? 0 : Math.max(1, Math.min(most, Math.round((last - choice.at) / step) + 1));
  const [moving, setMoving] = useState(/** @type {number | null} */ (null));
  const timer = useRef(0);
  const steps = moving ?? back;
  /** @param {number} n */
  const at = (n) => (n <= 0 ? null : last - (n - 1) * step);
  /** @param {number} n @param {boolean} [slowly] a slider passes many */
  const set = (n, slowly) => {
    const to = Math.max(0, Math.min(most, n));
    clearTimeout(timer.current);
    const time = at(to);
    const act = () => {
      setMoving(null);
      change({ at: time === null ? null : rfc(time) }, { replace: true });
    };
    if (!slowly) return act();
    setMoving(to);
    timer.current = setTimeout(act, 150);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    const press = (e) => {
      if (e.target instanceof Element && e.target.matches('input:not([type=range]), select')) return;
      if (e.ctrlKey || e.altKey || e.metaKey) return; // the browser's own
      if (e.key === '[') set(back + 1);
      if (e.key === ']') set(back - 1);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  const end = at(steps) ?? Date.now();
  const [from, to] = (moving === null && shown ? [shown.from, shown.to] : [end - step, end]).map((t) => when(t));
  const text = `${from} to ${to.slice(from.slice(0, 10) === to.slice(0, 10) ? 11 : 0)}`;
  return html`<div class="timeline">
    <button type="button" onClick=${() => set(back + 1)} aria-label="A step back in time" disabled=${back >= most}>◀</button>
    <label><span class="hidden">Time</span>
      <input type="range" min="0" max=${most} step="1" value=${most - steps} aria-valuetext=${text}
        onInput=${(/** @type {any} */ e) => set(most - e.target.valueAsNumber, true)} /></label>
    <button type="button" onClick=${() => set(back - 1)} aria-label="A step forth in time" disabled=${back <= 0}>▶</button>
    <button type="button" onClick=${() => set(0)} disabled=${back === 0}>Now</button>
    <output>${text} ${zoneName()}${back === 0 ? ', live' : ''}</output>
  </div>`;
}
