// What is changed on the way of a TCP SYN, at the hop where it is seen first, and how much of a packet each hop shows.
import { html } from '../html.js';
import { whoOf } from './hops.js';

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + '.';

/**
 * The places at which packets were seen, in order, with what was seen changed there first, as numbers of changes. Pure.
 * @param {Middleboxes} found
 * @param {Hop[]} hops
 * @returns {{ttl: number, far: boolean, hop: Hop | undefined, shown: string, changes: number[]}[]}
 */
export function placesOf(found, hops) {
  const points = found.points ?? [];
  const at = (/** @type {number} */ ttl, /** @type {boolean} */ far) => (found.changes ?? []).flatMap((c, i) => (!!c.far === far && (far || c.by === ttl) ? [i] : []));
  const routers = hops.map((hop) => ({ ttl: hop.ttl, far: false, hop, shown: points.find((p) => !p.far && p.ttl === hop.ttl)?.shown ?? '', changes: at(hop.ttl, false) }));
  const far = points.find((p) => p.far);
  return far ? [...routers, { ttl: far.ttl, far: true, hop: undefined, shown: far.shown, changes: at(far.ttl, true) }] : routers;
}

/**
 * @param {{found: Middleboxes, hops: Hop[], target: string, names: import('../pair/hops.js').Names, words: RouteWordsDoc | null}} props
 */
export function Middlebox({ found, hops, target, names, words }) {
  const changes = found.changes ?? [];
  const told = (/** @type {number} */ i) => words?.middleboxes?.[i] ?? `${changes[i].field}: ${changes[i].from} becomes ${changes[i].to}`;
  return html`<section aria-labelledby="middleboxes"><h2 id="middleboxes">What is changed on the way</h2>
    ${words?.proxy && html`<p><b>${sentence(words.proxy)}</b></p>`}
    ${!changes.length && (found.points ?? []).length > 0 && html`<p><b>Nothing that was seen is changed.</b></p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="What is changed on the way"><table class="middleboxes">
      <thead><tr><th scope="col">Hop</th><th scope="col">Who</th><th scope="col">Shows of the packet</th><th scope="col">Seen changed here first</th></tr></thead>
      <tbody><tr><th scope="row">0</th><td>sent</td><td>all</td><td class="quiet">${(found.sent ?? []).map((f) => (f.value === 'there' ? f.name : `${f.name} ${f.value}`)).join(', ')}</td></tr>
        ${placesOf(found, hops).map((p) => html`<tr class=${p.changes.length ? 'changed' : ''}><th scope="row">${p.far ? 'end' : p.ttl}</th>
          <td>${p.far ? `${target}, which tells what arrives` : whoOf(p.hop, names) ?? html`<span class="quiet">nobody</span>`}</td><td>${p.shown || html`<span class="quiet">nothing</span>`}</td>
          <td>${p.changes.map((i) => html`<div>${sentence(told(i))}</div>`)}</td></tr>`)}</tbody></table></div>
    ${words?.extent && html`<p class="quiet">${sentence(words.extent)}</p>`}</section>`;
}
