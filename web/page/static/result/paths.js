// All equal-cost paths to a target, as a graph from left to right, a column for each hop, and as a table.
import { html } from '../html.js';
import { url } from '../api.js';
import { useDoc } from '../docs.js';
import { format, plural } from '../format.js';
import { knownOf, named } from '../pair/hops.js';
import { About } from './hops.js';

const [column, row] = [64, 34]; // pixels between nodes

/** @typedef {PathVertex & {letter: string, x: number, y: number, next: PathLink[]}} Placed */

/** A letter for each vertex: a, b, … z, a2, … @param {number} i */
export const letterOf = (i) => String.fromCharCode(97 + (i % 26)) + (i < 26 ? '' : Math.floor(i / 26) + 1);

/**
 * Where each vertex stands: in the column of its hop, in the middle of the widest. Pure.
 * @param {PathsSample} paths
 * @returns {{all: Placed[], width: number, height: number}}
 */
export function placed(paths) {
  const ttls = [...new Set(paths.vertices.map((v) => v.ttl))].sort((a, b) => a - b);
  const wide = ttls.map((ttl) => paths.vertices.filter((v) => v.ttl === ttl).length);
  const height = Math.max(...wide, 1) * row + 20;
  const seen = ttls.map(() => 0);
  const all = paths.vertices.map((v, i) => {
    const c = ttls.indexOf(v.ttl);
    const y = height / 2 + (seen[c]++ - (wide[c] - 1) / 2) * row;
    return { ...v, letter: letterOf(i), x: 30 + (c + 1) * column, y, next: paths.links.filter((l) => l.from === i) };
  });
  return { all, width: 60 + (ttls.length + 1) * column, height };
}

/** How many ways lead from the first hop to the end. Pure. @param {PathsSample} paths */
export function waysOf(paths) {
  const into = new Set(paths.links.map((l) => l.to));
  /** @type {Map<number, number>} */
  const known = new Map();
  /** @param {number} i @returns {number} */
  const from = (i) => {
    const had = known.get(i);
    if (had !== undefined) return had;
    known.set(i, 0); // a loop is no way
    const next = paths.links.filter((l) => l.from === i);
    const n = next.length ? next.reduce((sum, l) => sum + from(l.to), 0) : 1;
    known.set(i, n);
    return n;
  };
  return paths.vertices.reduce((sum, _, i) => sum + (into.has(i) ? 0 : from(i)), 0);
}

const words = { flow: 'by flow', packet: 'by packet' };

/** @param {{paths: PathsSample, of: string}} props of: the Result's ID */
export function Paths({ paths, of }) {
  const { doc } = useDoc(url(['results', of, 'route'])); // without them the rest is shown all the same
  const names = new Map(Object.entries(doc?.names ?? {}));
  const known = knownOf(doc?.known);
  const { all, width, height } = placed(paths);
  const into = new Set(paths.links.map((l) => l.to));
  const who = (/** @type {Placed} */ v) => (v.address ? named(v.address, names) : 'nobody answers');
  return html`<section aria-labelledby="paths"><h2 id="paths">All equal-cost paths</h2>
    <p>${plural(waysOf(paths), 'path')}; that there are no more is ${(paths.complete ? paths.confidence_ratio * 100 : 0).toFixed(0)} % sure${!paths.complete && ': the search was ended before it was'}.
      ${' '}${plural(paths.sent_packets, 'packet')} of ${plural(paths.flows, 'flow')}.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Graph of paths"><svg class="paths" width=${width} height=${height} role="img" aria-label=${`${plural(all.length, 'interface')} and ${plural(paths.links.length, 'link')}; the table has them in words`}>
      ${all.filter((_, i) => !into.has(i)).map((v) => html`<path class="link" d=${`M30 ${height / 2}L${v.x} ${v.y}`} />`)}
      ${paths.links.map((l) => html`<path class=${`link${l.certain ? '' : ' unsure'}${l.translated ? ' translated' : ''}`} d=${`M${all[l.from].x} ${all[l.from].y}L${all[l.to].x} ${all[l.to].y}`}
        ><title>${`${all[l.from].letter} to ${all[l.to].letter}`}</title></path>`)}
      <rect x="24" y=${height / 2 - 6} width="12" height="12" />
      ${all.map((v) => html`<g class=${v.address ? v.balancing ?? '' : 'silent'}><circle cx=${v.x} cy=${v.y} r="11" /><text x=${v.x} y=${v.y + 4} text-anchor="middle">${v.address ? v.letter : '*'}</text>
        <title>${`hop ${v.ttl}: ${who(v)}`}</title></g>`)}
    </svg></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Table of paths"><table><thead><tr><th scope="col">Hop</th><th scope="col"></th><th scope="col">Interface</th><th scope="col" class="num">Least round trip</th>
        <th scope="col">Leads to</th><th scope="col">Balances</th></tr></thead>
      <tbody>${all.map((v) => html`<tr key=${v.letter}><td>${v.ttl}</td><th scope="row">${v.letter}</th><td>${who(v)}<${About} addresses=${[v.address]} known=${known} /></td><td class="num">${v.rtt_seconds === undefined ? '' : format(v.rtt_seconds, 'seconds')}</td>
        <td>${v.final ? 'end' : v.next.map((l) => (l.certain ? '' : '?') + (l.translated ? '~' : '') + all[l.to].letter).join(' ')}</td><td>${v.balancing ? words[v.balancing] : ''}</td></tr>`)}</tbody></table></div>
    <p class="quiet">? may or may not exist, behind balancing by packet; ~ addresses or ports of packets are others behind it.</p></section>`;
}
