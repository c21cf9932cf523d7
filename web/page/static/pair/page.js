// One pair in depth: every metric it has, both ways, over any span.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { url } from '../api.js';
import { useDocs, useDoc } from '../docs.js';
import { useEvents } from '../events.js';
import { labelOf } from '../metrics.js';
import { change, go, link } from '../router.js';
import { span, when, zoneName } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { Graphs, comparedOf } from './graphs.js';
import { lossClasses } from './plot.js';
import { Profile } from './profile.js';
import { drawn, rangeOf, shifted, spans, zoomed } from './range.js';
import { Results } from './results.js';
import { rowsOf, toolsOf } from './rows.js';
import { Shares } from './shares.js';

/** @param {{route: import('../router.js').Route}} props */
export function Pair({ route }) {
  const pair = /** @type {[string, string]} */ ([route.path[1], route.path[2]]);
  const metric = route.query.get('metric') ?? 'rtt_median_seconds';
  const of = { tool: route.query.get('tool') ?? '', test: route.query.get('test') ?? '' };
  const [now, turn] = useNow(pair, !route.query.get('to'));
  const range = useMemo(() => rangeOf(route.query, now), [route.href, now]);
  const compared = comparedOf(route.query.get('compare'));
  const { doc, error, reload } = useDocs([pair, [pair[1], pair[0]]].map(([source, target]) => url(['keys'], { source: exactly(source), target: exactly(target) })));
  const keys = /** @type {Key[][]} */ ((doc ?? []).map((/** @type {{keys: Key[] | null}} */ d) => d.keys ?? []));
  const rows = useMemo(() => rowsOf(keys.flat(), metric, labelOf(metric)), [doc, metric]);
  const press = useZoomKeys(route, range);
  /** @param {number} from @param {number} to */
  const zoom = (from, to) => change(drawn(from, to));
  const about = rows.find((r) => r.metrics.includes(metric))?.metrics[0] ?? rows[0]?.metrics[0];
  const tools = about ? toolsOf(keys.flat(), about) : [];
  const chosen = { tool: tools.includes(of.tool) ? of.tool : tools[0] ?? '', test: of.test };
  return html`
    <h1 tabindex="-1">${pair[0]} → ${pair[1]} <a class="button" href=${link(['pair', pair[1], pair[0]], Object.fromEntries(route.query))}>Reverse</a></h1>
    <${Ends} pair=${pair} />
    <${RangeControls} route=${route} range=${range} pair=${pair} compared=${route.query.get('compare') ?? ''} />
    ${error && html`<${Failure} error=${error} what="What this pair measures" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="what this pair measures" />`}
    ${doc && rows.length === 0 && html`<${Empty} title=${`Nothing was measured between ${pair[0]} and ${pair[1]} yet.`}>
      <p>Are both names right? A test between them belongs into the mesh file; <code>pathwise mesh plan --list</code> says when it runs.
        <a href="#/">Back to the overview</a></p><//>`}
    ${rows.length > 0 && html`
      <${Legend} smoke=${rows.some((r) => r.draw === 'smoke')} compared=${compared?.name ?? ''} />
      ${rows.map((row) => html`<${Graphs} key=${row.id} row=${row} pair=${pair} keys=${keys} of=${of} range=${range} compared=${compared} zoom=${zoom} press=${press} turn=${turn} />`)}
      ${about && html`<${Shares} metric=${about} label=${labelOf(about)} pair=${pair} of=${chosen} range=${range} />
        <div class="foot"><${Profile} metric=${about} label=${labelOf(about)} pair=${pair} of=${chosen} range=${range} />
        <${Results} pair=${pair} range=${range} turn=${turn} /></div>`}`}`;
}

/** A name as a pattern that matches it alone. @param {string} name */
const exactly = (name) => name.replace(/[\\*?[]/g, '\\$&');

/**
 * The time that "now" is taken for: renewed after Results of the pair came, at most every few seconds.
 * @param {[string, string]} pair
 * @param {boolean} live
 * @returns {[number, number]} time, and how often it was renewed
 */
function useNow([a, b], live) {
  const [state, set] = useState({ now: Date.now(), turn: 0 });
  const timer = useRef(0);
  useEvents((kind, e) => {
    const names = [e.result?.source.name, e.result?.target.name];
    if (!live || timer.current || !(kind === 'missed' || (names.includes(a) && names.includes(b)))) return;
    timer.current = setTimeout(() => {
      timer.current = 0;
      set((s) => ({ now: Date.now(), turn: s.turn + 1 }));
    }, 3000);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  return [state.now, state.turn];
}

/**
 * Keys of a graph that change the span. Escape goes back to the one before, as the browser's own back does.
 * @param {import('../router.js').Route} route
 * @param {import('./range.js').Range} range
 */
function useZoomKeys(route, range) {
  const depth = useRef(/** @type {string[]} */ ([]));
  useEffect(() => {
    const d = depth.current;
    if (d.at(-2) === route.href) d.pop();
    else if (d.at(-1) !== route.href) d.push(route.href);
  }, [route.href]);
  /** @type {(e: KeyboardEvent, at: number) => void} */
  return (e, at) => {
    const to = { '+': () => zoomed(range, at, 0.5), '=': () => zoomed(range, at, 0.5), '-': () => zoomed(range, at, 2),
      '[': () => shifted(range, -0.5), ']': () => shifted(range, 0.5) }[e.key];
    if (to) change(to());
    else if (e.key !== 'Escape') return;
    else if (depth.current.length > 1) history.back();
    else if (route.query.get('to')) change({ from: null, to: null });
    e.preventDefault();
  };
}

/** Where both ends are, and whether they report. @param {{pair: [string, string]}} props */
function Ends({ pair }) {
  const { doc } = useDoc('api/v1/hosts');
  if (!doc) return html`<p class="ends quiet"> </p>`;
  const hosts = /** @type {HostDoc[]} */ (doc.hosts ?? []);
  return html`<p class="ends">${pair.map((name) => {
    const h = hosts.find((o) => o.name === name);
    const state = !h ? 'not in the mesh file' : { here: 'reports', away: 'does not report', foreign: 'answers only', offline: 'offline by the mesh file' }[h.state];
    return html`<span><b>${name}</b> ${h?.site ?? ''} <span class=${h?.state === 'away' || !h ? 'is-failed' : 'quiet'}>${state}</span></span>`;
  })}</p>`;
}

/** @param {{route: import('../router.js').Route, range: import('./range.js').Range, pair: [string, string], compared: string}} props */
function RangeControls({ route, range, pair, compared }) {
  const asked = route.query.get('from') ?? '-1d';
  const other = `${pair[1]}/${pair[0]}`;
  const to = route.query.get('to');
  const fine = range.to - range.from < 120e3 ? 'ms' : range.to - range.from < 7200e3 ? 'second' : 'minute';
  return html`<div class="controls">
    <span class="choice" role="group" aria-label="Span">${Object.entries(spans).map(([v, text]) => html`<button type="button"
      aria-pressed=${String(!to && asked === '-' + v)} onClick=${() => change({ from: '-' + v, to: null })}>${text}</button>`)}</span>
    <span class="choice" role="group" aria-label="Move and zoom">
      <button type="button" aria-label="Back by half the span" onClick=${() => change(shifted(range, -0.5))}>◀</button>
      <button type="button" aria-label="Forth by half the span" onClick=${() => change(shifted(range, 0.5))}>▶</button>
      <button type="button" aria-label="Zoom in" onClick=${() => change(zoomed(range, (range.from + range.to) / 2, 0.5))}>+</button>
      <button type="button" aria-label="Zoom out" onClick=${() => change(zoomed(range, (range.from + range.to) / 2, 2))}>−</button></span>
    <label>Compare with <select value=${compared} onChange=${(/** @type {any} */ e) => change({ compare: e.target.value })}>
      <option value="">nothing</option><option value="-1d">a day before</option><option value="-1w">a week before</option>
      <option value=${other}>the other direction</option>
      ${compared && !['-1d', '-1w', other].includes(compared) && html`<option value=${compared}>${compared}</option>`}</select></label>
    <form onSubmit=${(/** @type {SubmitEvent} */ e) => {
        e.preventDefault();
        const text = String(new FormData(/** @type {HTMLFormElement} */ (e.target)).get('other')).trim().replace(/\s*(→|>|\s)\s*/, '/');
        if (text.includes('/')) go(link(route.path, { ...Object.fromEntries(route.query), compare: text }));
      }}><label>or pair <input name="other" placeholder="from/to" size="12" /></label></form>
    <output>${when(range.from, fine)} to ${when(range.to, fine)} ${zoneName()}<span class="quiet">, ${span(range.to - range.from)} in steps of ${span(range.step)}${range.live ? ', live' : ''}</span></output>
  </div>`;
}

/** @param {{smoke: boolean, compared: string}} props */
const Legend = ({ smoke, compared }) => html`<ul class="legend">
  <li><span class="swatch line" aria-hidden="true"></span> median</li>
  <li><span class="swatch s4" aria-hidden="true"></span> half of all runs</li><li><span class="swatch s3" aria-hidden="true"></span> 90 % of runs</li>
  ${smoke && html`<li><span class="swatch s2" aria-hidden="true"></span> within runs: least to 95 %</li><li><span class="swatch s1" aria-hidden="true"></span> least to most</li>
    <li>loss: ${[...lossClasses].reverse().map(([, , size, word]) => html`<span class=${'dot d' + size} aria-hidden="true"></span> ${word} `)}</li>`}
  <li><span class="swatch hatch" aria-hidden="true"></span> no value</li>
  ${compared && html`<li><span class="swatch dash" aria-hidden="true"></span> ${compared}</li>`}
  <li class="quiet">drag to zoom, Esc to go back</li></ul>`;
