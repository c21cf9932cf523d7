// One pair in depth: every metric it has, both ways, over any span.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { exactly, url } from '../api.js';
import { useDocs } from '../docs.js';
import { useEvents } from '../events.js';
import { plural } from '../format.js';
import { labelOf } from '../metrics.js';
import { change } from '../router.js';
import { Empty, Failure, Loading } from '../state.js';
import { comparedOf, waysOf, wayText } from './compare.js';
import { Controls, Legend } from './controls.js';
import { Graphs } from './graphs.js';
import { About, Head } from './head.js';
import { Lane, useChanges } from './lane.js';
import { Near } from './near.js';
import { Profile } from './profile.js';
import { drawn, rangeOf, shifted, zoomed } from './range.js';
import { Results } from './results.js';
import { Routes } from './routes.js';
import { parted, planned, rowsOf, toolsOf } from './rows.js';
import { Scatter } from './scatter.js';
import { Shares } from './shares.js';
import { Since, State, useHistory, useWorse, withSteps } from './since.js';
import { useStages } from './stages.js';
import { Tools } from './tools.js';

/** @typedef {import('./compare.js').Pair[]} Pairs */
/** @type {import('./happened.js').Change[]} */
const none = [];

/** @param {{route: import('../router.js').Route, account: import('../account.js').Account}} props */
export function Pair({ route, account }) {
  const pair = /** @type {[string, string]} */ ([route.path[1], route.path[2]]);
  return html`<${Past} route=${route} pair=${pair} metric="rtt_median_seconds" generated=${account.me?.generated_until} head=${html`<${Head} pair=${pair} query=${route.query} />`} />`;
}

/**
 * What was measured of a pair, or of a host by itself, whose pair has one name twice.
 * @param {{route: import('../router.js').Route, pair: [string, string], metric?: string, generated?: string, head?: any}} props
 * metric: that the page is about, unless its address says another; generated: until when nobody measured what is shown; head: what stands above it
 */
export function Past({ route, pair, metric: usual = '', generated, head }) {
  const { query } = route;
  const ways = waysOf(pair);
  const own = ways.length === 1;
  const metric = query.get('metric') ?? usual;
  const of = { tool: query.get('tool') ?? '', test: query.get('test') ?? '' };
  const whole = query.get('besides') !== 'no';
  const step = useRef(0);
  const [now, turn] = useNow(pair, !query.get('to'), step);
  const range = useMemo(() => rangeOf(query, now), [route.href, now]);
  step.current = range.step;
  const compared = comparedOf(query.get('with') ?? query.get('compare'), query.get('shift'));
  // Each time anew: what was never measured before may be now.
  const ask = (/** @type {string} */ what, /** @type {Pairs} */ of, /** @type {string} */ role) => of.map(([source, target]) => url([what], { source: exactly(source), target: exactly(target), role }));
  const known = useDocs(ask('keys', ways, '*'), turn);
  // Once, so that no graph changes its tool while it is looked at; in one order, so that the way back asks for the same.
  const ran = useDocs(ask('measured', [...ways].sort(), ''));
  const { error, reload } = known;
  const doc = ran.busy ? null : known.doc;
  const measured = useMemo(() => /** @type {Measured[]} */ ((ran.doc ?? []).flatMap((/** @type {MeasuredDoc} */ d) => d.measured)), [ran.doc]);
  const keys = useMemo(() => /** @type {Key[][]} */ ((doc ?? []).map((/** @type {{keys: Key[] | null}} */ d) => d.keys ?? [])), [doc]);
  const [all, showAll] = useState(false); // also what the mesh file's tests do not measure
  const [rows, more] = useMemo(() => {
    const found = parted(rowsOf(keys.flat().filter((k) => whole || planned(k)), metric, labelOf(metric)), keys.flat());
    return all ? [found.flat(), []] : found;
  }, [keys, metric, whole, all]);
  const { rangeOf: rangeFor, turnOf, rest, turnOfRest, onDrew, look } = useStages(range, rows.map((r) => r.id), turn);
  const happened = useChanges(pair, rest ?? range, turnOfRest);
  const { events, detour } = useHistory(pair, rest ?? range, turnOfRest);
  const worse = useWorse(pair, rest ?? range, turnOfRest);
  const changes = useMemo(() => withSteps(happened.changes, events, worse?.signs ?? [], range.from), [happened.changes, events, worse, range.from]);
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
  const first = rows.find((r) => r.metrics.includes(metric)) ?? rows[0];
  const about = first?.metrics[0];
  const tools = about ? toolsOf(keys.flat().filter(planned), about, measured) : [];
  const chosen = { tool: tools.includes(of.tool) ? of.tool : tools[0] ?? '', test: of.test };
  const beneath = html`<div key="beneath" class="beneath">
    <${Legend} smoke=${rows.some((r) => r.draw === 'smoke')} compared=${compared?.name ?? ''} besides=${keys.flat().every(planned) ? null : { shown: whole }} />
    <${Lane} happened=${{ ...happened, changes }} pair=${pair} range=${range} route=${route} />
    ${!own && html`<${About} pair=${pair} turn=${turnOfRest} />`}</div>`;
  /** @param {import('./rows.js').Row} row */
  const graphs = (row) => rangeFor(row.id) && html`<${Graphs} key=${row.id} row=${row} pair=${pair} keys=${keys} measured=${measured} of=${of} range=${rangeFor(row.id)} compared=${compared}
    whole=${whole} generated=${generated} zoom=${zoomIn(row.id)} press=${pressIn(row.id)} turn=${turnOf(row.id)} changes=${changes ?? none} drew=${onDrew} />`;
  return html`
    ${head}
    ${!own && (rows.length > 0 || !(doc || error)) && html`<${Since} pair=${pair} events=${events} detour=${detour} now=${worse}>${first && rest && html`<${State} row=${first} pair=${pair} of=${chosen} range=${rest} turn=${turnOfRest} />`}<//>`}
    <${Controls} route=${route} pair=${pair} range=${range} keys=${keys.flat()} />
    ${error && html`<${Failure} error=${error} what=${`What ${wayText(pair)} measured`} retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="what was measured" />`}
    ${doc && rows.length === 0 && html`<${Nothing} pair=${pair} />`}
    ${!rows.length && !own && html`<${About} pair=${pair} turn=${error || doc ? turn : turnOfRest} />`}
    ${rows.length > 0 && html`
      <div class=${own ? 'alone' : ''}>${[own && beneath, ...rows.flatMap((row, i) => [graphs(row), i === 0 && !own && beneath])]}</div>
      ${more.length > 0 && html`<p><button type="button" class="besides" onClick=${() => showAll(true)}>${plural(more.length, 'more graph')}, of what was measured besides the plan alone</button></p>`}
      ${about && rest && html`<${Shares} metric=${about} label=${first.title} pair=${pair} of=${chosen} range=${rest} turn=${turnOfRest} />
        <div class="foot">${ways.length > 1 && html`<${Near} title="Route over time" wanted=${query.get('see') === 'routes'}><${Routes} pair=${pair} range=${rest} route=${route} turn=${turnOfRest} /><//>`}
          <${Near} title="Do two metrics go together?"><${Scatter} pair=${pair} keys=${keys} range=${rest} route=${route} turn=${turnOfRest} /><//>
          ${ways.length > 1 && html`<${Near} title="Tools beside each other"><${Tools} pair=${pair} range=${rest} turn=${turnOfRest} /><//>`}</div>
        <div class="foot"><${Profile} metric=${about} label=${first.title} pair=${pair} of=${chosen} range=${rest} turn=${turnOfRest} />
        <${Results} pair=${pair} range=${rest} turn=${turnOfRest} /></div>`}`}`;
}

/** @param {{pair: [string, string]}} props */
const Nothing = ({ pair: [a, b] }) => (a === b
  ? html`<${Empty} title=${`${a} has measured nothing of itself yet.`}><p>A test whose tool has <code>probe: host</code> has hosts measure their processors, memory, disks and
      interfaces. In the mesh file: <code>tools: {state: {probe: host}}</code>, <code>groups: {each: {list: [${a}]}}</code> and, under <code>tests:</code>,
      ${' '}<code>{tool: state, group: each, schedule: {every: 1m}}</code>.</p><//>`
  : html`<${Empty} title=${`Nothing was measured between ${a} and ${b} yet.`}>
      <p>Are both names right? A test between them belongs into the mesh file; <code>pathwise mesh plan --list</code> says when it runs.${' '}
        <a href="#/">Back to the overview</a></p><//>`);

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
    const concerns = (names[0] === a && names[1] === b) || (names[0] === b && names[1] === a);
    if (!live || timer.current || !(kind === 'missed' || concerns)) return;
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
