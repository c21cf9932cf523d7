// The hops of a route: who answered at each, after how long, and what it told.
import { html } from '../html.js';
import { format } from '../format.js';
import { aboutOf, named } from '../pair/hops.js';

/** @typedef {import('../pair/hops.js').Names} Names */

/** Who answered at a hop. @param {Hop | undefined} hop @param {Names} names */
export const whoOf = (hop, names) => (hop?.addresses?.length ? hop.addresses.map((a) => named(a, names)).join(', ') : null);

/** What else is known of who answered, in a line of its own. @param {{addresses: string[] | null | undefined, known: import('../pair/hops.js').Known}} props */
export function About({ addresses, known }) {
  const text = aboutOf(addresses, known);
  return text ? html`<div class="quiet about">${text}</div>` : null;
}

/** The least round trip to a hop; null: it answered none. Pure. @param {Hop} hop */
export const leastOf = (hop) => (hop.rtt_seconds ?? []).reduce((least, v) => (v !== null && (least === null || v < least) ? v : least), /** @type {number | null} */ (null));

/** @param {{hops: Hop[], names: Names, known: import('../pair/hops.js').Known, words: WayWords | null, title: string, id: string, silent?: boolean}} props silent: what they say together is told elsewhere */
export function Hops({ hops, names, known, words, title, id, silent }) {
  const told = words?.hops?.some((h) => h?.length);
  return html`<section aria-labelledby=${id}><h2 id=${id}>${title}</h2>
    ${!silent && html`<${Lines} lines=${words?.lines ?? []} />`}
    <div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
    <thead><tr><th scope="col">TTL</th><th scope="col">Answered</th><th scope="col" class="num">Round trips</th>${told && html`<th scope="col">Told</th>`}</tr></thead>
    <tbody>${hops.map((h, i) => html`<tr><th scope="row">${h.ttl}</th><td>${whoOf(h, names) ?? html`<span class="quiet">nobody</span>`} ${h.reply}<${About} addresses=${h.addresses} known=${known} /></td>
      <td class="num">${(h.rtt_seconds ?? []).map((v) => (v === null ? '*' : format(v, 'seconds'))).join('  ')}</td>${told && html`<td>${(words?.hops?.[i] ?? []).join(' ')}</td>`}</tr>`)}</tbody></table></div>
    ${told && html`<${Legend} />`}</section>`;
}

/** What hops say together. @param {{lines: string[]}} props */
export const Lines = ({ lines }) => html`${lines.length > 0 && html`<ul>${lines.map((l) => html`<li>${l.charAt(0).toUpperCase() + l.slice(1)}.</li>`)}</ul>`}`;

/** What the words of a hop mean. */
export const Legend = () => html`<p class="quiet">MPLS has label (L), traffic class (E), bottom of the stack (S) and TTL (T). DSCP and ECN are those that packets came with; back is how many hops the answer passed.</p>`;
