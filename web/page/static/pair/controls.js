// What the graphs show: the span, what they are compared with, one more metric; and what their marks mean.
import { html, useState } from '../html.js';
import { labelOf } from '../metrics.js';
import { change } from '../router.js';
import { span, when, zoneName } from '../times.js';
import { pairText, shifts, waysOf } from './compare.js';
import { lossClasses } from './ink.js';
import { shifted, spans, zoomed } from './range.js';
import { othersOf } from './rows.js';

/** @typedef {import('../router.js').Route} Route */

/** @param {{route: Route, pair: [string, string], range: import('./range.js').Range, keys: Key[]}} props */
export function Controls({ route, pair, range, keys }) {
  const asked = route.query.get('from') ?? '-1d';
  const to = route.query.get('to');
  const fine = range.to - range.from < 120e3 ? 'ms' : range.to - range.from < 7200e3 ? 'second' : 'minute';
  const others = othersOf(keys);
  // Open where something of it was chosen, as by a link; then as somebody leaves it.
  const [open, setOpen] = useState(() => ['with', 'compare', 'shift'].some((k) => route.query.get(k)) || others.includes(route.query.get('metric') ?? ''));
  return html`<div class="controls">
    <span class="choice" role="group" aria-label="Span">${Object.entries(spans).map(([v, text]) => html`<button type="button"
      aria-pressed=${String(!to && asked === '-' + v)} onClick=${() => change({ from: '-' + v, to: null })}>${text}</button>`)}</span>
    <output>${when(range.from, fine)} to ${when(range.to, fine)} ${zoneName()}<span class="quiet">, ${span(range.to - range.from)} in
      ${' '}steps of ${span(range.step)}${range.live ? ', live' : ''}</span></output>
    <details class="fold" open=${open} onToggle=${(/** @type {any} */ e) => setOpen(e.target.open)}><summary>Compare, move, more</summary><div class="controls">
    <span class="choice" role="group" aria-label="Move and zoom">
      <button type="button" aria-label="Back by half the span" onClick=${() => change(shifted(range, -0.5))}>◀</button>
      <button type="button" aria-label="Forth by half the span" onClick=${() => change(shifted(range, 0.5))}>▶</button>
      <button type="button" aria-label="Zoom in" onClick=${() => change(zoomed(range, (range.from + range.to) / 2, 0.5))}>+</button>
      <button type="button" aria-label="Zoom out" onClick=${() => change(zoomed(range, (range.from + range.to) / 2, 2))}>−</button></span>
    <${Comparison} query=${route.query} keys=${keys} both=${waysOf(pair).length > 1} />
    ${others.length > 0 && html`<label>Also show <select name="metric" value=${others.includes(route.query.get('metric') ?? '') ? route.query.get('metric') : ''}
      onChange=${(/** @type {any} */ e) => change({ metric: e.target.value })}><option value="">nothing else</option>
      ${others.map((m) => html`<option value=${m}>${labelOf(m)}</option>`)}</select></label>`}
    </div></details>
  </div>`;
}

/**
 * The names of what measures something that another one measures, too.
 * @param {Key[]} keys
 * @param {(k: Key) => string} of
 */
export const rivals = (keys, of) => [...new Set(keys.filter((k) => of(k) && keys.some((o) => o.metric === k.metric && of(o) !== of(k))).map(of))].sort();

/** @param {{query: URLSearchParams, keys: Key[], both: boolean}} props both: there are two ways */
function Comparison({ query, keys, both }) {
  const [wrong, setWrong] = useState('');
  const old = query.get('compare') ?? ''; // as links of earlier versions have it
  const asked = query.get('with') ?? old;
  const shift = query.get('shift') ?? (asked.startsWith('-') ? asked : '');
  const chosen = asked.startsWith('-') ? '' : asked;
  const kinds = /** @type {const} */ ([['tool', rivals(keys, (k) => k.tool)], ['test', rivals(keys, (k) => k.test ?? '')]]);
  const known = ['', 'reverse', ...kinds.flatMap(([kind, all]) => all.map((n) => `${kind}:${n}`))];
  /** @param {Record<string, string>} what */
  const compare = (what) => change({ with: chosen, shift, compare: null, ...what });
  /** @param {SubmitEvent} e */
  const submit = (e) => {
    e.preventDefault();
    const text = String(new FormData(/** @type {HTMLFormElement} */ (e.target)).get('other'));
    const pair = pairText(text);
    setWrong(pair || !text ? '' : 'Want two hosts, such as ucl/cern');
    if (pair || !text) compare({ with: pair ?? '' });
  };
  return html`<label>Compare with <select name="with" value=${chosen} onChange=${(/** @type {any} */ e) => compare({ with: e.target.value })}>
      <option value="">nothing else</option>${both && html`<option value="reverse">the other direction</option>`}
      ${kinds.map(([kind, all]) => all.length > 1 && html`<optgroup label=${`Another ${kind}`}>${all.map((n) => html`<option value=${`${kind}:${n}`}>${n}</option>`)}</optgroup>`)}
      ${!known.includes(chosen) && html`<option value=${chosen}>${chosen}</option>`}</select></label>
    <label>at <select name="shift" value=${shift} onChange=${(/** @type {any} */ e) => compare({ shift: e.target.value })}>
      <option value="">the same time</option>${Object.entries(shifts).map(([v, text]) => html`<option value=${v}>${text}</option>`)}
      ${shift && !(shift in shifts) && html`<option value=${shift}>${shift.slice(1)} before</option>`}</select></label>
    <form onSubmit=${submit}><label>or pair <input name="other" placeholder="from/to" size="12" aria-describedby="other-wrong" aria-invalid=${String(wrong !== '')} /></label>
      <span id="other-wrong" class="is-failed" role="status">${wrong}</span></form>`;
}

/** @param {{smoke: boolean, compared: string, besides: {shown: boolean} | null}} props besides: there is what is not of the plan */
export const Legend = ({ smoke, compared, besides }) => html`<ul class="legend">
  <li><span class="swatch line" aria-hidden="true"></span> median</li>
  <li><span class="swatch s4" aria-hidden="true"></span> half of all</li><li><span class="swatch s3" aria-hidden="true"></span> 90 %</li>
  ${smoke && html`<li><span class="swatch s2" aria-hidden="true"></span> minimum to 95 %</li><li><span class="swatch s1" aria-hidden="true"></span> minimum to maximum</li>
    <li>median by loss: ${lossClasses.map(([, tall, word], i) => html`<span class="dot" style=${{ '--of': `var(--loss-${i})`, '--tall': tall + 'px' }} aria-hidden="true"></span> ${word} `)}</li>`}
  <li><span class="swatch hatch" aria-hidden="true"></span> no value</li>
  ${besides && html`<li><svg class="diamond" viewBox="0 0 12 12" aria-hidden="true"><path d="M6 1 11 6 6 11 1 6Z" /></svg>
    <label><input type="checkbox" checked=${besides.shown} onChange=${(/** @type {any} */ e) => change({ besides: e.target.checked ? null : 'no' })} />
    ${' '}besides the plan: tests on demand, steps of diagnoses</label></li>`}
  ${compared && html`<li><span class="swatch outline" aria-hidden="true"></span><span class="swatch dash" aria-hidden="true"></span> ${compared}: half of all, and median</li>`}
  <li class="quiet">drag to zoom, Esc to go back</li></ul>`;
