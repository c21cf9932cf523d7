// One pair in depth: every metric it has, both ways, over any span.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { exactly, url } from '../api.js';
import { useDocs } from '../docs.js';
import { useEvents } from '../events.js';
import { labelOf } from '../metrics.js';
import { change } from '../router.js';
import { Empty, Failure, Loading } from '../state.js';
import { comparedOf, turned } from './compare.js';
import { Controls, Legend } from './controls.js';
import { Graphs } from './graphs.js';
import { Head } from './head.js';
import { Lane, useChanges } from './lane.js';
import { Near } from './near.js';
import { Profile } from './profile.js';
import { drawn, rangeOf, shifted, zoomed } from './range.js';
import { Results } from './results.js';
import { Routes } from './routes.js';
import { rowsOf, toolsOf } from './rows.js';
import { Scatter } from './scatter.js';
import { Shares } from './shares.js';
import { useStages } from './stages.js';

/** @type {import('./happened.js').Change[]} */
const none = [];

/** @param {{route: import('../router.js').Route}} props */
export function Pair({ route }) {
  const { query } = route;
  const pair = /** @type {[string, string]} */ ([route.path[1], route.path[2]]);
  const metric = query.get('metric') ?? 'rtt_median_seconds';
  const of = { tool: query.get('tool') ?? '', test: query.get('test') ?? '' };
  const step = useRef(0);
  const [now, turn] = useNow(pair, !query.get('to'), step);
  const range = useMemo(() => rangeOf(query, now), [route.href, now]);
  step.current = range.step;
  const compared = comparedOf(query.get('with') ?? query.get('compare'), query.get('shift'));
  const { doc, error, reload } = useDocs([pair, turned(pair)].map(([source, target]) => url(['keys'], { source: exactly(source), target: exactly(target) })));
  const keys = useMemo(() => /** @type {Key[][]} */ ((doc ?? []).map((/** @type {{keys: Key[] | null}} */ d) => d.keys ?? [])), [doc]);
  const rows = useMemo(() => rowsOf(keys.flat(), metric, labelOf(metric)), [keys, metric]);
  const { rangeOf: rangeFor, turnOf, rest, turnOfRest, onDrew, look } = useStages(range, rows.map((r) => r.id), turn);
  const happened = useChanges(pair, rest ?? range, turnOfRest);
  const press = useZoomKeys(route, range);
  /** @param {string} row @returns {(from: number, to: number) => void} */
  const zoomIn = (row) => (from, to) => {
    look(row);
    change(drawn(from, to));
  };
  /** @param {string} row @returns {(e: KeyboardEvent, at: number) => void} */
  const pressIn = (row) => (e, at) => {
    look(row);
    press(e, at);
  };
  const about = rows.find((r) => r.metrics.includes(metric))?.metrics[0] ?? rows[0]?.metrics[0];
  const tools = about ? toolsOf(keys.flat(), about) : [];
  const chosen = { tool: tools.includes(of.tool) ? of.tool : tools[0] ?? '', test: of.test };
  return html`
    <${Head} pair=${pair} query=${query} turn=${error || (doc && !rows.length) ? turn : turnOfRest} />
    <${Controls} route=${route} range=${range} keys=${keys.flat()} />
    ${error && html`<${Failure} error=${error} what="What this pair measures" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="what this pair measures" />`}
    ${doc && rows.length === 0 && html`<${Empty} title=${`Nothing was measured between ${pair[0]} and ${pair[1]} yet.`}>
      <p>Are both names right? A test between them belongs into the mesh file; <code>pathwise mesh plan --list</code> says when it runs.
        <a href="#/">Back to the overview</a></p><//>`}
    ${rows.length > 0 && html`
      <${Legend} smoke=${rows.some((r) => r.draw === 'smoke')} compared=${compared?.name ?? ''} />
      <${Lane} happened=${happened} pair=${pair} range=${range} route=${route} />
      ${rows.map((row) => rangeFor(row.id) && html`<${Graphs} key=${row.id} row=${row} pair=${pair} keys=${keys} of=${of} range=${rangeFor(row.id)} compared=${compared}
        zoom=${zoomIn(row.id)} press=${pressIn(row.id)} turn=${turnOf(row.id)} changes=${happened.changes ?? none} drew=${onDrew} />`)}
      ${about && rest && html`<${Shares} metric=${about} label=${labelOf(about)} pair=${pair} of=${chosen} range=${rest} turn=${turnOfRest} />
        <div class="foot"><${Near} title="Route over time"><${Routes} pair=${pair} range=${rest} route=${route} turn=${turnOfRest} /><//>
          <${Near} title="Do two metrics go together?"><${Scatter} pair=${pair} keys=${keys} range=${rest} route=${route} turn=${turnOfRest} /><//></div>
        <div class="foot"><${Profile} metric=${about} label=${labelOf(about)} pair=${pair} of=${chosen} range=${rest} turn=${turnOfRest} />
        <${Results} pair=${pair} range=${rest} turn=${turnOfRest} /></div>`}`}`;
}

/**
 * The time that "now" is taken for: renewed after Results or misses of the pair came, at most every few seconds; where one
 * changes little, or none comes, once a minute.
 * @param {[string, string]} pair
 * @param {boolean} live
 * @param {{current: number}} step of the graphs, in ms
 * @returns {[number, number]} time, and how often it was renewed
 */
function useNow([a, b], live, step) {
  const [state, set] = useState({ now: Date.now(), turn: 0 });
  const timer = useRef(0);
  const renew = () => set((s) => ({ now: Date.now(), turn: s.turn + 1 }));
  useEvents((kind, e) => {
    const names = [e.result?.source.name ?? e.miss?.source, e.result?.target.name ?? e.miss?.target];
    if (!live || timer.current || !(kind === 'missed' || (names.includes(a) && names.includes(b)))) return;
    timer.current = setTimeout(() => {
      timer.current = 0;
      renew();
    }, Math.max(3e3, Math.min(60e3, step.current / 60)));
  });
  useEffect(() => {
    const still = setInterval(() => !live || document.hidden || renew(), 60e3);
    return () => clearInterval(still);
  }, [live]);
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
