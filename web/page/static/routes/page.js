// The routes of all pairs as one graph: hosts at the edge, routers between, links as thick as pairs use them; what changed lately is marked.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { url } from '../api.js';
import { useDoc } from '../docs.js';
import { plural } from '../format.js';
import { layout, namesOf } from '../lab/layout.js';
import { change } from '../router.js';
import { when } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { knownOf } from '../pair/hops.js';
import { changedOf, graphOf, thickness, whenOf } from './model.js';

const spans = { '-6h': '6 hours', '-1d': 'a day', '-7d': 'a week' };
const mostLabels = 60; // routers; of more, the names are in the table and where the pointer is
const most = 300; // rows of a table

/** @param {{route: import('../router.js').Route}} props */
export function RouteGraph({ route }) {
  const from = route.query.get('from') ?? '-1d';
  const { doc, error, reload } = useDoc(url(['routes'], { from }));
  const graph = /** @type {RouteGraphDoc | null} */ (doc);
  const names = useMemo(() => new Map(Object.entries(graph?.names ?? {})), [graph]);
  const { nodes, links } = useMemo(() => (graph ? graphOf(graph, names, knownOf(graph.known)) : { nodes: [], links: [] }), [graph]);
  const changed = changedOf(links);
  return html`<h1 tabindex="-1">Routes</h1>
    <p class="screen">Traced in the last <span class="choice" role="group" aria-label="Span">${Object.entries(spans).map(([span, name]) => html`<button type="button" key=${span}
      aria-pressed=${String(span === from)} onClick=${() => change({ from: span })}>${name}</button>`)}</span></p>
    ${error && html`<${Failure} error=${error} what="The graph of routes" retry=${reload} />`}
    ${!graph && !error && html`<${Loading} of="routes" />`}
    ${graph && !nodes.length && html`<${Empty} title="Nobody traced a route in this span."><p>A test whose tool has <code>probe: trace</code> does. In the mesh file:
      <code>tools: {route: {probe: trace}}</code> and, under <code>tests:</code>, <code>{tool: route, group: …, schedule: {every: 30m}}</code>.</p><//>`}
    ${graph && nodes.length > 0 && html`<p>${plural(graph.pairs, 'pair')}, ${plural(nodes.filter((n) => n.kind === 'router').length, 'router')}, ${plural(links.length, 'link')}, of which
        ${' '}${changed.length ? `${changed.length} changed` : 'none changed'}.${graph.more && ' There are older traces in this span than could be looked at.'}</p>
      <${Drawing} nodes=${nodes} links=${links} />
      <p class="quiet key"><span class="new">━</span> traffic was moved here <span class="left">╍</span> and away from here; dotted: not known to be one link. Thicker: more pairs.</p>
      ${changed.length > 0 && html`<section aria-labelledby="changed"><h2 id="changed">Changed lately</h2><${Table} links=${changed} /></section>`}
      <details><summary>All links</summary><${Table} links=${[...links].sort((a, b) => b.pairs - a.pairs)} /></details>
      <details><summary>All nodes</summary><table><thead><tr><th scope="col">Node</th><th scope="col">Addresses</th><th scope="col" class="num">Pairs</th></tr></thead>
        <tbody>${nodes.slice(0, most).map((n) => html`<tr key=${n.name}><th scope="row">${n.label}</th><td>${n.addresses.join(', ')}${n.about && html`<div class="quiet about">${n.about}</div>`}</td><td class="num">${n.pairs}</td></tr>`)}</tbody></table></details>`}`;
}

/** @param {{nodes: import('./model.js').Node[], links: import('./model.js').Link[]}} props */
function Drawing({ nodes, links }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const see = new ResizeObserver(() => setWidth(element.clientWidth));
    see.observe(element);
    return () => see.disconnect();
  }, []);
  const shape = nodes.map((n) => n.label).join() + links.map((l) => l.between.join('-')).join();
  const { places, height, labels } = useMemo(() => {
    const found = layout(nodes, links, Math.max(width, 280));
    return { ...found, labels: namesOf(nodes, found.places) };
  }, [shape, width]);
  const at = (/** @type {string} */ name) => /** @type {import('../lab/layout.js').Place} */ (places.get(name));
  const pairs = Math.max(...links.map((l) => l.pairs));
  const few = nodes.length <= mostLabels;
  return html`<div class="route-graph" ref=${box}>${width > 0 && html`<svg width=${width} height=${height} role="img" aria-label=${`Graph of ${plural(nodes.length, 'node')} and ${plural(links.length, 'link')}; the tables below have it in words`}>
      ${links.map((l) => html`<line key=${l.about + l.from + l.to} class=${`link ${l.changed}${l.sure && !l.silent ? '' : ' unsure'}${l.pairs ? '' : ' unused'}`} stroke-width=${thickness(l.pairs, pairs)}
        x1=${at(l.between[0]).x} y1=${at(l.between[0]).y} x2=${at(l.between[1]).x} y2=${at(l.between[1]).y}><title>${`${l.about}: ${told(l)}`}</title></line>`)}
      ${nodes.map((n) => html`<g key=${n.name} class=${`node ${n.kind}`}>${n.kind === 'host' ? html`<rect x=${at(n.name).x - 6} y=${at(n.name).y - 6} width="12" height="12" />`
        : html`<circle cx=${at(n.name).x} cy=${at(n.name).y} r="6" />`}
        ${(few || n.kind === 'host') && html`<text x=${labels.get(n.name)?.x} y=${(labels.get(n.name)?.y ?? 0) + 4} text-anchor=${labels.get(n.name)?.anchor}>${n.label}</text>`}
        <title>${`${n.label} ${n.addresses.join(' ')}${n.about && `, ${n.about}`}: ${plural(n.pairs, 'pair')}`}</title></g>`)}
    </svg>`}</div>`;
}

/** What a link is and was. @param {import('./model.js').Link} l */
function told(l) {
  const parts = [l.pairs ? plural(l.pairs, 'pair') : 'no pair any more'];
  if (l.silent) parts.push(`${plural(l.silent, 'hop')} between that nobody answers for`);
  if (!l.sure) parts.push('not sure: several routers share the load at both ends');
  if (l.changed) parts.push(`${l.changed === 'new' ? 'used' : 'left'} since ${when(whenOf(l))}`);
  return parts.join(', ');
}

/** @param {{links: import('./model.js').Link[]}} props */
function Table({ links }) {
  return html`<table class="route-links"><thead><tr><th scope="col">Link</th><th scope="col">Used</th></tr></thead>
      <tbody>${links.slice(0, most).map((l) => html`<tr key=${l.from + ' ' + l.to}><th scope="row">${l.about}</th><td>${told(l)}</td></tr>`)}</tbody></table>
    ${links.length > most && html`<p class="quiet">The first ${most}; the API has all.</p>`}`;
}
