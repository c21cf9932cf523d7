// The route over time as a picture: a row for each hop, time across, a colour for each router; changes are marked, and the round trips stand beneath.
// What the rows hold is computed apart (hops.js, and cells below), which is pure.
import { html } from '../html.js';
import { format, plural } from '../format.js';
import { when } from '../times.js';
import { aboutOf, answered, held, named } from './hops.js';

const colours = 6; // of style.css, which .r0 to .r5 have; r0 is of who is there all the time
const rows = 40; // hops that are drawn; a table has the rest
const least = 0.0015; // of the width, so that what was seen once is seen

/** @typedef {{begin: number, end: number, who: string, about: string, colour: number, changed: boolean}} Cell a time in which the same answered at a hop, as shares of the span */

/**
 * The rows of the picture: for each hop who answered when. Neighbours that are the same are one cell. Pure.
 * @param {RouteDoc[]} routes oldest first
 * @param {{from: number, to: number}} range
 * @param {import('./hops.js').Names} [names]
 * @param {import('./hops.js').Known} [known]
 * @returns {{ttl: number, cells: Cell[]}[]}
 */
export function cells(routes, range, names, known = new Map()) {
  const places = held(routes, range);
  const ttls = [...new Set(routes.flatMap((r) => r.hops.map((h) => h.ttl)))].sort((a, b) => a - b);
  return ttls.slice(0, rows).map((ttl) => {
    /** @type {Cell[]} */
    const row = [];
    /** @type {string[]} */
    const had = [];
    routes.forEach((r, i) => {
      const hop = r.hops.find((h) => h.ttl === ttl);
      if (!hop) return;
      const who = hop.addresses?.length ? answered(hop, names) : '';
      if (who && !had.includes(who)) had.push(who);
      const last = row.at(-1);
      const { begin, end } = places[i];
      if (last && last.who === who && begin <= last.end + 1e-9) last.end = end;
      else row.push({ begin, end, who, about: aboutOf(hop.addresses, known), colour: who ? had.indexOf(who) % colours : -1, changed: (r.changed ?? []).includes(ttl) });
    });
    return { ttl, cells: row };
  });
}

/**
 * The line of round trips, in a box of 1000 by 100; and the highest. Pure.
 * @param {{at: string, seconds: number}[]} delays
 * @param {{from: number, to: number}} range
 */
export function lineOf(delays, { from, to }) {
  const high = delays.reduce((most, d) => Math.max(most, d.seconds), 0) * 1.1 || 1;
  return { high, points: delays.map((d) => `${((1000 * (Date.parse(d.at) - from)) / (to - from)).toFixed(1)},${(100 - (100 * d.seconds) / high).toFixed(1)}`).join(' ') };
}

/** @param {{routes: RouteDoc[], course: CourseDoc | undefined, range: import('./range.js').Range, names: import('./hops.js').Names, known: import('./hops.js').Known}} props oldest first */
export function Lattice({ routes, course, range, names, known }) {
  const all = cells(routes, range, names, known);
  const changes = course?.changes ?? [];
  const at = (/** @type {string} */ t) => `${Math.max(0, Math.min(100, (100 * (Date.parse(t) - range.from)) / (range.to - range.from)))}%`;
  const text = `Who answered at each of ${plural(all.length, 'hop')} over time, ${plural(changes.length, 'change')} of route: the table below has it in words`;
  const { high, points } = lineOf(course?.delays ?? [], range);
  return html`<div class="lattice" role="img" aria-label=${text}>
      ${all.map(({ ttl, cells: row }) => html`<div class="row" key=${ttl}><span class="ttl">${ttl}</span><div class="cells">${row.map((c) => html`<span
        class=${c.colour < 0 ? 'silent' : `r${c.colour}`} style=${{ left: `${100 * c.begin}%`, width: `${100 * Math.max(least, c.end - c.begin)}%` }}
        title=${`hop ${ttl}: ${c.who || 'no answer'}${c.about && `, ${c.about}`}`}>${c.end - c.begin > 0.06 ? c.who : ''}</span>`)}</div></div>`)}
      <div class="row marks"><span class="ttl"></span><div class="cells">${changes.map((c) => html`<i key=${c.after.result} style=${{ left: at(c.after.first) }} title=${c.text}></i>`)}</div></div>
      ${points && html`<div class="row trips"><span class="ttl"></span><svg viewBox="0 0 1000 100" preserveAspectRatio="none"><polyline points=${points} /></svg></div>`}
    </div>
    ${points && html`<p class="quiet">Beneath: round trip to the end, 0 to ${format(high, 'seconds')}.</p>`}`;
}

/** What the traces come to, in words. @param {{course: CourseDoc | undefined, names: import('./hops.js').Names}} props */
export function Judged({ course, names }) {
  if (!course) return null;
  const none = [...course.turns.map((t) => t.text), ...course.varying.map((v) => v.text),
    ...course.brief.slice(-3).map((b) => `another route at ${when(b.first)}, for ${plural(b.results, 'trace')}: ${briefly(b, names)}`)];
  return html`${course.changes.length > 0 && html`<ol class="judged">${course.changes.map((c) => html`<li key=${c.after.result}><b>Between ${when(c.before.last)} and ${when(c.after.first)}:</b> ${c.text}</li>`)}</ol>`}
    ${none.length > 0 && html`<p class="quiet">No change of route:</p><ul class="judged quiet">${none.map((text) => html`<li>${text}</li>`)}</ul>`}
    ${course.brief.length > 3 && html`<p class="quiet">And ${plural(course.brief.length - 3, 'other route')} before, none of which lasted.</p>`}`;
}

/** Where a route that did not last was another one. @param {BriefDoc} b @param {import('./hops.js').Names} names */
function briefly(b, names) {
  const ttl = (b.changed ?? [])[0];
  const hop = b.hops.find((h) => h.ttl === ttl);
  return hop?.addresses?.length ? `hop ${ttl} was ${hop.addresses.map((a) => named(a, names)).join(', ')}` : `hop ${ttl} was not there`;
}
