// What a trace found, whole: who answers at each hop, what came of rounds, the way back beside the way there, what is done to packets, and how large they may be.
import { html } from '../html.js';
import { endsOf, url } from '../api.js';
import { useDoc } from '../docs.js';
import { knownOf } from '../pair/hops.js';
import { Both } from './both.js';
import { Hops } from './hops.js';
import { Middlebox } from './middlebox.js';
import { Rounds } from './rounds.js';

/** @param {ResultDoc} r */
const measuresMTU = (r) => r.kind === 'mtu' && r.metrics.path_mtu_bytes !== undefined;

/** Whether a Result has a route, or the hops that large packets pass. @param {ResultDoc} r */
export const hasRoute = (r) => measuresMTU(r) || !!r.samples?.hops?.length;

/** @param {{result: ResultDoc}} props */
export function RouteOf({ result: r }) {
  const words = /** @type {RouteWordsDoc | null} */ (useDoc(url(['results', r.id, 'route'])).doc); // without them the rest is shown all the same
  const names = new Map(Object.entries(words?.names ?? {}));
  const known = knownOf(words?.known);
  const { hops = [], rounds, return: back, middleboxes } = r.samples ?? {};
  return html`
    ${(measuresMTU(r) || r.samples?.route?.narrowings?.length || r.samples?.back_narrows) && html`<${Mtu} result=${r} words=${words} />`}
    ${back && html`<${Both} there=${hops} back=${back} names=${names} known=${known} />`}
    ${middleboxes && html`<${Middlebox} found=${middleboxes} hops=${hops} target=${endsOf(r)[1]} names=${names} words=${words} />`}
    ${rounds ? html`<${Rounds} rounds=${rounds} hops=${hops} names=${names} known=${known} words=${words?.route ?? null} />`
      : hops.length > 0 && html`<${Hops} hops=${hops} names=${names} known=${known} words=${words?.route ?? null} id="hops"
        title=${r.kind === 'mtu' ? 'Hops that larger packets pass' : 'Route'} silent=${r.kind === 'mtu'} />`}
    ${!!back?.hops?.length && html`<${Hops} hops=${back.hops} names=${names} known=${known} words=${words?.return ?? null} title="Route back, from the far end on" id="hops-back" />`}`;
}

/** The largest packet of each way, and who passes on no larger ones. @param {{result: ResultDoc, words: RouteWordsDoc | null}} props */
function Mtu({ result: r, words }) {
  const { back_narrows: narrowed } = r.samples ?? {};
  const { path_mtu_bytes: there, reverse_path_mtu_bytes: back = narrowed?.mtu_bytes } = r.metrics;
  const narrowings = r.samples?.route?.narrowings ?? [];
  const bytes = (/** @type {number} */ n) => `${n} bytes`;
  const limit = r.kind === 'mtu' ? words?.route.lines?.at(-1) ?? '' : '';
  const limitBack = narrowed ? words?.return.lines?.at(-1) ?? '' : back !== undefined && back >= (there ?? 0) ? 'may pass: none was tried' : '';
  return html`<section aria-labelledby="mtu"><h2 id="mtu">The largest packets</h2>
    <div class="scroll" tabindex="0" role="region" aria-label="The largest packets"><table>
    <thead><tr><th scope="col">Way</th><th scope="col" class="num">Largest packet</th><th scope="col">Larger ones</th></tr></thead>
    <tbody>${there !== undefined && html`<tr><th scope="row">there, to the end</th><td class="num">${bytes(there)}</td><td>${limit}</td></tr>`}
      ${narrowings.map((n) => html`<tr><th scope="row">there, to hop ${n.before}</th><td class="num">${bytes(n.mtu_bytes)}</td>
        <td>${n.refused ? 'are refused by' : 'vanish behind'} ${n.ttl ? `hop ${n.ttl}` : 'this host'}${n.address ? ` (${n.address})` : ''}${n.refused ? '' : ', and nobody says why'}</td></tr>`)}
      ${back !== undefined && html`<tr><th scope="row">back</th><td class="num">${bytes(back)}</td><td>${limitBack}</td></tr>`}</tbody></table></div></section>`;
}
