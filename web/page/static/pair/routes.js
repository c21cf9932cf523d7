// The route over time: which one held when, and one column for each, newest first, with what it changed.
import { html, useMemo } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { plural } from '../format.js';
import { change, link } from '../router.js';
import { rfc, when } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { turned } from './compare.js';
import { aboutOf, answered, byTest, differences, held, knownOf, letters, nameOf, told } from './hops.js';
import { Judged, Lattice } from './lattice.js';

/** @typedef {[string, string]} Pair */
/** A route with its letter, what it changed, and its place in the span. @typedef {RouteDoc & {letter: string, differs: import('./hops.js').Difference[], begin: number, end: number}} Shown */

const columns = 10; // as many as one compares; the strip has all

/** @param {{pair: Pair, range: import('./range.js').Range, route: import('../router.js').Route, turn: number | null}} props */
export function Routes({ pair, range, route, turn }) {
  const back = route.query.get('way') === 'back';
  const way = back ? turned(pair) : pair;
  const at = { from: rfc(range.from), to: rfc(range.to) };
  const { doc, error, busy, reload } = useDocs([url(['pairs', ...way, 'routes'], at)], turn);
  const routes = /** @type {RouteDoc[]} */ (doc?.[0]?.routes ?? []);
  const courses = new Map(/** @type {CourseDoc[]} */ (doc?.[0]?.courses ?? []).map((c) => [nameOf(c), c]));
  const names = useMemo(() => new Map(Object.entries(/** @type {RoutesDoc | undefined} */ (doc?.[0])?.names ?? {})), [doc]);
  const known = useMemo(() => knownOf(/** @type {RoutesDoc | undefined} */ (doc?.[0])?.known), [doc]);
  return html`<section aria-labelledby="routes" class=${busy ? 'busy' : ''} aria-busy=${String(busy)}>
    <h2 id="routes">Route over time <span class="choice" role="group" aria-label="Direction">${[pair, turned(pair)].map(([a, b], i) => html`<button type="button"
      aria-pressed=${String(back === (i === 1))} onClick=${() => change({ way: i ? 'back' : null })}>${a} → ${b}</button>`)}</span></h2>
    <p class="screen"><a href=${link(['test'], { source: way[0], target: way[1], tool: 'trace', 'p.rounds': '50' })}>Trace this way now, in rounds</a> <span class="quiet">that tell from which hop on packets are lost</span></p>
    ${error && html`<${Failure} error=${error} what="The route over time" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="routes" />`}
    ${doc && !routes.length && html`<${Missing} way=${way} />`}
    ${doc?.[0].more && html`<p class="quiet">There are older traces in this span than could be looked at.</p>`}
    ${byTest(routes).map(({ name, routes: own }, _, all) => html`${all.length > 1 && html`<h3>${name}</h3>`}<${Found} key=${name} routes=${own} course=${courses.get(name)} range=${range} way=${way} names=${names} known=${known} />`)}
  </section>`;
}

/** @param {{way: Pair}} props */
const Missing = ({ way: [source, target] }) => html`<${Empty} title=${`Nobody traced the route from ${source} to ${target} in this span.`}>
  <p>A test whose tool has <code>probe: trace</code> would show it. In the mesh file: <code>tools: {route: {probe: trace}}</code> and, under <code>tests:</code>,
    ${' '}<code>{tool: route, group: …, schedule: {every: 30m}}</code>. Or <a href=${link(['test'], { source, target })}>trace it now</a>.</p><//>`;

/** @param {{routes: RouteDoc[], course: CourseDoc | undefined, range: import('./range.js').Range, way: Pair, names: import('./hops.js').Names, known: import('./hops.js').Known}} props oldest first */
function Found({ routes, course, range, way, names, known }) {
  const lettered = letters(routes);
  const places = held(routes, range);
  const all = routes.map((r, i) => ({ ...r, letter: lettered[i], differs: differences(routes[i - 1], r, names), ...places[i] }));
  const newest = all.slice(-columns).reverse();
  const kinds = new Set(lettered).size;
  const changes = course?.changes.length ?? 0;
  const traces = routes.reduce((n, r) => n + r.results, 0);
  const about = routes.length === 1 ? 'One route' : `${plural(kinds, 'route')}, ${changes ? plural(changes, 'change') : 'no change that lasted'}`;
  return html`<p>${about}, in ${plural(traces, 'trace')}.</p>
    <${Judged} course=${course} names=${names} />
    ${traces > 1 && html`<${Lattice} routes=${routes} course=${course} range=${range} names=${names} known=${known} />
      <${Strip} all=${all} range=${range} />`}
    <div class="scroll" tabindex="0" role="region" aria-label=${`Routes from ${way[0]} to ${way[1]}`}><table class="routes">
      <thead><tr><th scope="col">Hop</th>${newest.map((r) => html`<th scope="col" key=${r.first}><b>${r.letter}</b> <a href=${link(['result', r.result])}>${when(r.first)}</a>
        <br />to ${when(r.last)}<br />${plural(r.results, 'trace')}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">Differs</th>${newest.map((r, k) => html`<td class="differs" data-route=${r.letter}>${
          r.differs.length ? told(r.differs) : k === all.length - 1 ? 'the first of this span' : 'no hop'}</td>`)}</tr>
        ${hops(newest).map((ttl) => html`<tr key=${ttl}><th scope="row">${ttl}</th>${newest.map((r) => html`<${Hop} r=${r} ttl=${ttl} names=${names} known=${known} />`)}</tr>`)}</tbody></table></div>
    ${routes.length > columns && html`<p class="quiet">In the strip alone: ${plural(routes.length - columns, 'older route')}. Zoom in to see more.</p>`}`;
}

/** The distances that any of some routes has. @param {RouteDoc[]} routes */
const hops = (routes) => [...new Set(routes.flatMap((r) => r.hops.map((h) => h.ttl)))].sort((a, b) => a - b);

const marks = { other: ['≠', 'another than before'], new: ['+', 'new'], gone: ['−', 'gone'] };

/** @param {{r: Shown, ttl: number, names: import('./hops.js').Names, known: import('./hops.js').Known}} props */
function Hop({ r, ttl, names, known }) {
  const hop = r.hops.find((h) => h.ttl === ttl);
  const d = r.differs.find((o) => o.ttl === ttl);
  const [sign, word] = d ? marks[d.kind] : ['', ''];
  const text = hop ? answered(hop, names) : d ? d.before : '';
  const about = aboutOf(hop?.addresses, known);
  return html`<td data-route=${r.letter} class=${d ? 'changed ' + d.kind : hop?.addresses?.length ? '' : 'quiet'}>${d && html`<b aria-hidden="true">${sign}</b> `}
    ${d?.kind === 'gone' ? html`<s>${text}</s>` : text}${d && html`<span class="hidden"> ${word}</span>`}${about && html`<span class="quiet about"> ${about}</span>`}</td>`;
}

/** Which route held when. @param {{all: Shown[], range: import('./range.js').Range}} props */
function Strip({ all, range }) {
  const order = [...new Set(all.map((r) => r.letter))];
  const text = all.slice(-20).map((r) => `${r.letter} from ${when(r.first)}`).join(', ');
  return html`<svg class="strip" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=${'Which route held when: ' + text}>
      ${all.map((r) => html`<rect class=${'k' + (order.indexOf(r.letter) % 4)} x=${r.begin * 1000} width=${Math.max(1, (r.end - r.begin) * 1000)} y="0" height="24" />`)}
    </svg>
    <div class="letters" aria-hidden="true">${all.filter((r) => r.end - r.begin > 0.025).map((r) => html`<span style=${{ left: `${50 * (r.begin + r.end)}%` }}>${r.letter}</span>`)}</div>
    <p class="scale" aria-hidden="true"><span>${when(range.from)}</span><span>${when(range.to)}</span></p>`;
}
