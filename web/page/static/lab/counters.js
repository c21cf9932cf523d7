// What passes the links now and did since the lab came up; each row is a direction.
import { html } from '../html.js';
import { format, plural } from '../format.js';
import { brief, kindOf, kinds, passing, rateText } from './judge.js';

/**
 * @param {{lab: LabDoc, before: LabDoc | null, chosen: number, choose: (link: number) => void}} props
 */
export function Counters({ lab, before, chosen, choose }) {
  const seconds = before ? lab.seconds - before.seconds : 0;
  return html`<section aria-labelledby="links"><h2 id="links">Links<small>: what each is set to, what passes now, and what was lost since the lab came up</small></h2>
    <div class="scroll lab-links" tabindex="0" role="region" aria-labelledby="links"><table><thead><tr><th scope="col">Direction</th><th scope="col">Set to</th>
      <th scope="col" class="num">Rate now</th><th scope="col" class="num">Loss now</th><th scope="col" class="num">In queue</th><th scope="col" class="num">Packets</th><th scope="col">Lost, duplicated, reordered</th></tr></thead>
    <tbody>${lab.links.flatMap((l) => /** @type {const} */ (['forward', 'reverse']).map((d) => {
      const way = l[d];
      const p = passing(way, before?.links[l.number]?.[d], seconds);
      const [a, b] = d === 'forward' ? l.between : [l.between[1], l.between[0]];
      const kind = kinds[kindOf(way)];
      return html`<tr key=${`${l.number}${d}`} class=${l.number === chosen ? 'on' : ''}>
        <th scope="row"><button type="button" class="plain" aria-pressed=${l.number === chosen} onClick=${() => choose(l.number)}>${a} → ${b}</button></th>
        <td>${kind.mark && html`<span class=${'sign ' + kind.name} title=${kind.text}>${kind.mark}</span> `}${brief(way)}</td>
        <td class="num">${rateText(p.bits)}</td><td class=${p.lost ? 'num is-failed' : 'num'}>${p.lost === null ? '' : format(p.lost, 'ratio')}</td>
        <td class="num">${way.queue_packets || ''}</td><td class="num">${format(way.packets, 'count')}</td><td>${causes(way)}</td></tr>`;
    }))}</tbody></table></div></section>`;
}

/** @param {LabWay} way */
function causes(way) {
  const lost = Object.entries(way.dropped).filter(([, n]) => n > 0).map(([cause, n]) => `${format(n, 'count')} ${cause.replaceAll('_', ' ')}`);
  if (way.duplicated_packets) lost.push(`${plural(way.duplicated_packets, 'duplicate')}`);
  if (way.reordered_packets) lost.push(`${format(way.reordered_packets, 'count')} reordered`);
  if (way.corrupted_packets) lost.push(`${format(way.corrupted_packets, 'count')} corrupted`);
  return lost.join(', ');
}
