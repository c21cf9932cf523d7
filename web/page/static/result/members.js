// A multicast group, between all of its members: a matrix of one quantity, which is a table, and all of each pair.
import { html, useState } from '../html.js';
import { format, plural, share } from '../format.js';

/**
 * What a matrix can show. of: its value of a pair, null where nobody knows; shown: in a cell; limits: where it is a warning and bad, of a share.
 * @typedef {{id: string, name: string, of: (p: MemberPair) => number | null | undefined, unit: string, limits?: [number, number]}} Quantity
 */

/** @param {number} some @param {number} all */
const part = (some, all) => (all > 0 ? some / all : null);

/** @type {Quantity[]} */
export const quantities = [
  { id: 'loss', name: 'Loss', unit: 'ratio', limits: [0.001, 0.01], of: (p) => part(p.sent_packets - p.received_packets, p.sent_packets) },
  { id: 'delay', name: 'Delay, median', unit: 'seconds', of: (p) => p.delay_median_seconds },
  { id: 'delay-min', name: 'Delay, minimum', unit: 'seconds', of: (p) => p.delay_min_seconds },
  { id: 'variation', name: 'Delay variation, 95th percentile', unit: 'seconds', of: (p) => p.pdv_p95_seconds },
  { id: 'reordering', name: 'Reordering', unit: 'ratio', limits: [0.001, 0.01], of: (p) => part(p.reordered_packets, p.received_packets) },
  { id: 'duplicates', name: 'Duplicates', unit: 'ratio', limits: [0.001, 0.01], of: (p) => part(p.duplicate_packets, p.received_packets) },
  { id: 'hops', name: 'Hops', unit: 'count', of: (p) => p.hops_min },
];

/**
 * The cells of a group, row by row in the order of its members, a row being a sender; null: a member itself, or nobody told. Pure.
 * @param {number} n members
 * @param {MemberPair[]} pairs
 */
export function cellsOf(n, pairs) {
  /** @type {(MemberPair | null)[]} */
  const cells = new Array(n * n).fill(null);
  for (const p of pairs) if (p.from >= 0 && p.from < n && p.to >= 0 && p.to < n) cells[p.from * n + p.to] = p;
  return cells;
}

/** The class of a value: 2 good, 3 a warning, 4 bad; 0 where it is not judged. Pure. @param {number | null | undefined} v @param {Quantity} q */
export const classOf = (v, q) => (v == null || !q.limits ? 0 : v > q.limits[1] ? 4 : v > q.limits[0] ? 3 : 2);

const most = 50; // members side by side: what a screen and a browser bear

/** @param {{members: Member[], pairs: MemberPair[]}} props */
export function Members({ members, pairs }) {
  const [id, choose] = useState('loss');
  const q = quantities.find((o) => o.id === id) ?? quantities[0];
  const names = members.map((m, i) => m.name || m.address || `member ${i + 1}`);
  const untold = members.length * (members.length - 1) - pairs.length;
  return html`<section class="members" aria-labelledby="members"><h2 id="members">The group<small>: ${plural(members.length, 'member')}</small></h2>
    <div class="controls"><label>Quantity <select value=${id} onChange=${(/** @type {any} */ e) => choose(e.target.value)}>${quantities.map((o) => html`<option value=${o.id}>${o.name}</option>`)}</select></label></div>
    ${members.length < 2 ? html`<p class="quiet">No other member was heard. Do the others run at the same time, and does the network between carry multicast?</p>`
      : members.length > most ? html`<p class="quiet">There are more members than have room side by side: all pairs are below.</p>`
      : html`<${Matrix} names=${names} members=${members} cells=${cellsOf(members.length, pairs)} quantity=${q} />`}
    <p class="quiet">A row is a sender, a column a receiver. – is of what nobody told${untold > 0 && `, ${plural(untold, 'pair')}`}; ~ is of what more packets could have changed. Delays are as the
      clocks of both ends show them; their variation is right whatever the clocks are worth.</p>
    <details open=${members.length > most}><summary>All pairs</summary><${Pairs} names=${names} pairs=${pairs} /></details></section>`;
}

/** @param {{names: string[], members: Member[], cells: (MemberPair | null)[], quantity: Quantity}} props */
function Matrix({ names, members, cells, quantity: q }) {
  const high = Math.max(0, ...cells.map((p) => (p && q.of(p)) ?? 0));
  /** @param {number} i @param {number} k */
  const cell = (i, k) => {
    if (i === k) return html`<td class="self"></td>`;
    const p = cells[i * names.length + k];
    const v = p ? q.of(p) : null;
    if (v == null) return html`<td class="none" title=${`${names[i]} to ${names[k]}: nobody told`}>–</td>`;
    const kind = classOf(v, q);
    return html`<td class=${kind ? 'k' + kind : 'shaded'} style=${{ '--share': kind ? null : `${high > 0 ? Math.round((60 * v) / high) : 0}%` }} title=${`${names[i]} to ${names[k]}: ${p?.received_packets} of ${p?.sent_packets} came`}>${kind === 4 ? '× ' : kind === 3 ? '• ' : ''}${format(v, q.unit)}${p?.final ? '' : ' ~'}</td>`;
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${`${q.name} between all members`}><table class="group">
    <caption class="hidden">${q.name}: rows send, columns receive</caption>
    <thead><tr><th scope="col">from \\ to</th>${names.map((n) => html`<th scope="col">${n}</th>`)}</tr></thead>
    <tbody>${names.map((n, i) => html`<tr key=${members[i].id || i}><th scope="row">${n}${members[i].self && html` <small class="quiet">told this</small>`}</th>${names.map((_, k) => cell(i, k))}</tr>`)}</tbody></table></div>`;
}

const rows = 500; // of the table of pairs

/** @param {{names: string[], pairs: MemberPair[]}} props */
function Pairs({ names, pairs }) {
  const loss = quantities[0];
  const sorted = [...pairs].sort((a, b) => (loss.of(b) ?? 0) - (loss.of(a) ?? 0));
  /** @param {number | null | undefined} v */
  const seconds = (v) => (v == null ? '–' : format(v, 'seconds'));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="All pairs of the group"><table class="list">
    <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col">Loss</th><th scope="col" class="num">Longest run lost</th><th scope="col" class="num">Delay, minimum</th><th scope="col" class="num">median</th>
      <th scope="col" class="num">95th percentile</th><th scope="col" class="num">Variation, PDV</th><th scope="col" class="num">IPDV</th><th scope="col" class="num">Reordered</th><th scope="col" class="num">Came twice</th><th scope="col" class="num">Hops</th><th scope="col" class="num">Clocks, to</th></tr></thead>
    <tbody>${sorted.slice(0, rows).map((p) => html`<tr key=${`${p.from} ${p.to}`}><th scope="row">${names[p.from]}</th><td>${names[p.to]}</td><td>${share(loss.of(p), p.sent_packets)}${p.final ? '' : ' ~'}</td>
      <td class="num">${p.loss_burst_max_packets}</td><td class="num">${seconds(p.delay_min_seconds)}</td><td class="num">${seconds(p.delay_median_seconds)}</td><td class="num">${seconds(p.delay_p95_seconds)}</td>
      <td class="num">${seconds(p.pdv_p95_seconds)}</td><td class="num">${seconds(p.ipdv_p95_seconds)}</td><td class="num">${p.reordered_packets}</td><td class="num">${p.duplicate_packets}</td>
      <td class="num">${p.hops_min == null ? '–' : p.hops_min === p.hops_max || p.hops_max == null ? p.hops_min : `${p.hops_min} to ${p.hops_max}`}</td><td class="num">${seconds(p.clock_error_seconds)}</td></tr>`)}</tbody></table></div>
    ${sorted.length > rows && html`<p class="quiet">The ${rows} that lost most; the JSON has all.</p>`}`;
}
