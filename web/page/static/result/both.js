// The way there and the way back, side by side, a row for each pair of links that stand at the same place.
import { html } from '../html.js';
import { format } from '../format.js';
import { About, leastOf, whoOf } from './hops.js';

const marks = /** @type {const} */ ({ shared: ['=', 'k2', 'both ways'], other: ['≠', 'k3', 'one way alone'], unknown: ['?', 'k0', 'nothing tells'] });

/** @param {{there: Hop[], back: ReturnRoute, names: import('../pair/hops.js').Names, known: import('../pair/hops.js').Known}} props */
export function Both({ there, back, names, known }) {
  const { says, links } = back.comparison;
  return html`<section aria-labelledby="both"><h2 id="both">There and back</h2>
    <p><b>${says.charAt(0).toUpperCase() + says.slice(1)}</b></p>
    ${back.local !== back.seen && html`<p>The first host is ${back.local}, and there ${back.seen}: addresses are translated, so the way back is known as far as the translator.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="There and back"><table class="both">
      <thead><tr><th scope="col">Hop</th><th scope="col">There</th><th scope="col" class="num">Round trip</th><th scope="col">Link</th>
        <th scope="col">Hop</th><th scope="col">Back, from below</th><th scope="col" class="num">Round trip from there</th></tr></thead>
      <tbody>${(links ?? []).map((l) => html`<tr class=${l.mark}><${Side} hop=${there[(l.forward ?? 0) - 1]} names=${names} known=${known} />
        <td><span class=${'mark ' + marks[l.mark][1]} aria-hidden="true">${marks[l.mark][0]}</span>${marks[l.mark][2]}</td>
        <${Side} hop=${back.hops?.[(l.return ?? 0) - 1]} names=${names} known=${known} /></tr>`)}</tbody></table></div></section>`;
}

/** A hop that a link leads to. @param {{hop: Hop | undefined, names: import('../pair/hops.js').Names, known: import('../pair/hops.js').Known}} props */
function Side({ hop, names, known }) {
  if (!hop) return html`<td></td><td></td><td></td>`;
  const least = leastOf(hop);
  return html`<td>${hop.ttl}</td><td>${whoOf(hop, names) ?? html`<span class="quiet">nobody</span>`} ${hop.annotation}<${About} addresses=${hop.addresses} known=${known} /></td><td class="num">${least === null ? '' : format(least, 'seconds')}</td>`;
}
