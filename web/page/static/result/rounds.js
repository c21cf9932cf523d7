// Rounds of a trace: what came of the packets to each hop, as the terminal has it, and from which hop on the path loses some.
import { html } from '../html.js';
import { format, plural } from '../format.js';
import { named } from '../pair/hops.js';
import { About, Legend, Lines } from './hops.js';

/**
 * A drawing of the latest round trips, 2 pixels each: what was lost reaches over the whole height. Pure.
 * @param {(number | null)[]} trips
 * @param {number} most the longest of all hops
 * @param {number} high in pixels
 * @returns {{x: number, y: number, lost: boolean}[]}
 */
export const barsOf = (trips, most, high) => trips.map((v, i) => ({ x: 2 * i + 1, y: v === null ? 0 : high - Math.max(1, (high * v) / most), lost: v === null }));

const tall = 18; // of a drawing in a row, in pixels: a line of text

/** @param {number | null} v */
const time = (v) => (v === null ? '' : format(v, 'seconds'));

/**
 * @param {{rounds: RoundsSample, hops: Hop[], names: import('../pair/hops.js').Names, known: import('../pair/hops.js').Known, words: WayWords | null, going?: boolean}} props
 * going: more rounds are to come; hops have come to nothing yet
 */
export function Rounds({ rounds, hops, names, known, words, going }) {
  const { loss } = rounds;
  const most = hops.reduce((n, h) => (h.rtt_seconds ?? []).reduce((/** @type {number} */ m, v) => Math.max(m, v ?? 0), n), 0) || 1;
  const told = words?.hops?.some((h) => h?.length);
  const mark = (/** @type {number} */ ttl) => (loss.hop === ttl ? html`<b class="is-failed">loss begins here</b>` : loss.limiting?.includes(ttl) ? 'answers seldom' : '');
  return html`<section aria-labelledby="rounds"><h2 id="rounds">Rounds<small>: ${plural(rounds.rounds, 'round')}${going ? ' so far' : ''}</small></h2>
    <p><b>${loss.verdict}</b></p>
    <${Lines} lines=${words?.lines ?? []} />
    <div class="scroll" tabindex="0" role="region" aria-label="Rounds"><table class="rounds">
      <thead><tr><th scope="col">Hop</th><th scope="col">Who answers</th>${['Loss', 'Sent', 'Last', 'Average', 'Best', 'Worst', 'Deviation', 'Jitter'].map((n) => html`<th scope="col" class="num">${n}</th>`)}
        ${!going && html`<th scope="col">Latest</th>`}<th scope="col">Of note</th></tr></thead>
      <tbody>${rounds.hops.map((h, i) => html`<tr key=${h.ttl} class=${loss.hop === h.ttl ? 'blamed' : ''}><th scope="row">${h.ttl}</th>
        <td>${h.from?.length ? h.from.map((f) => named(f.address, names) + (h.from?.length === 1 ? '' : `: ${f.packets}`)).join(', ') : html`<span class="quiet">nobody</span>`}
          <${About} addresses=${(h.from ?? []).map((f) => f.address)} known=${known} /></td>
        <td class="num">${(100 * h.loss_ratio).toFixed(1)}${' '}%</td><td class="num">${h.sent_packets}</td>
        ${[h.last_seconds, h.mean_seconds, h.best_seconds, h.worst_seconds, h.stddev_seconds, h.jitter_seconds].map((v) => html`<td class="num">${time(v)}</td>`)}
        ${!going && html`<td><${Latest} trips=${hops[i]?.rtt_seconds ?? []} most=${most} /></td>`}<td>${mark(h.ttl)} ${(words?.hops?.[i] ?? []).join(' ')}</td></tr>`)}</tbody></table></div>
    ${told && html`<${Legend} />`}</section>`;
}

/** @param {{trips: (number | null)[], most: number}} props */
const Latest = ({ trips, most }) => html`<svg class="latest" width=${2 * trips.length} height=${tall} aria-hidden="true">
  ${barsOf(trips, most, tall).map((b) => html`<path class=${b.lost ? 'lost' : ''} d=${`M${b.x} ${tall}V${b.y.toFixed(1)}`} />`)}</svg>`;
