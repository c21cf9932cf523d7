// What the matrix shows, made of what the API answers: hosts in the order of their sites, a class and a value a cell. Pure.
import { byLimits, byPast, limitOf, limitsOf, Bad, Warn, None } from './judge.js';
import { definitionOf } from '../metrics.js';
import { scaleOf } from '../format.js';

/**
 * One look at the mesh. Cells are row by row in the order of hosts, a row being a source.
 * @typedef {{
 *   hosts: {name: string, site: string}[], n: number,
 *   values: (number | null)[], classes: Uint8Array,
 *   past: {median: (number | null)[], low: (number | null)[], high: (number | null)[]} | null,
 *   metric: string, unit: string, better: MatrixDoc['better'], limits: import('./judge.js').Limits,
 *   scale: [number, string], byPast: boolean, tally: number[], from: number, to: number, why?: Map<number, SignDoc[]>,
 * }} Model
 * why: of the matrix of health, what is wrong with cells
 */

/**
 * @param {MatrixDoc} doc
 * @param {{warn: number | null, bad: number | null, byPast: boolean}} look
 * @returns {Model}
 */
export function modelOf(doc, look) {
  const n = doc.hosts.length;
  const order = [...doc.hosts.keys()].sort((a, b) => compare(doc.hosts[a], doc.hosts[b]));
  /** @template T @param {T[]} of @returns {T[]} */
  const sorted = (of) => {
    const all = new Array(n * n);
    for (let r = 0; r < n; r++) for (let c = 0; c < n; c++) all[r * n + c] = of[order[r] * n + order[c]] ?? null;
    return all;
  };
  const values = sorted(doc.values);
  const b = doc.baseline;
  const past = b ? { median: sorted(b.median), low: sorted(b.low), high: sorted(b.high) } : null;
  const limits = limitsOf(look, definitionOf(doc.metric), values, doc.better);
  const classes = new Uint8Array(n * n);
  const tally = [0, 0, 0, 0, 0];
  for (let i = 0; i < classes.length; i++) {
    classes[i] = look.byPast && past
      ? byPast(values[i], { median: past.median[i], low: past.low[i], high: past.high[i] }, doc.better)
      : byLimits(values[i], limits, doc.better);
    if (Math.floor(i / n) !== i % n) tally[classes[i]]++;
  }
  const some = values.map((v) => Math.abs(v ?? 0)).filter(Boolean).sort((x, y) => x - y);
  return {
    hosts: order.map((i) => ({ name: doc.hosts[i].name, site: doc.hosts[i].site ?? '' })), n, values, classes, past,
    metric: doc.metric, unit: doc.unit, better: doc.better, limits, byPast: look.byPast && past !== null, tally,
    scale: scaleOf(some[some.length >> 1] ?? 0, doc.unit),
    from: Date.parse(doc.from), to: Date.parse(doc.to),
  };
}

/**
 * The health of all pairs over all metrics.
 * @param {SummaryDoc} doc
 * @returns {Model}
 */
export function healthOf(doc) {
  const n = doc.hosts.length;
  const order = [...doc.hosts.keys()].sort((a, b) => compare(doc.hosts[a], doc.hosts[b]));
  const place = new Map(order.map((from, to) => [doc.hosts[from].name, to]));
  const classes = new Uint8Array(n * n);
  const tally = [0, 0, 0, 0, 0];
  for (let r = 0; r < n; r++) for (let c = 0; c < n; c++) {
    const kind = classes[r * n + c] = doc.classes[order[r] * n + order[c]];
    if (r !== c) tally[kind]++;
  }
  const why = new Map(doc.pairs.map((p) => [(place.get(p.source) ?? 0) * n + (place.get(p.target) ?? 0), p.signs]));
  const at = Date.parse(doc.at);
  return {
    hosts: order.map((i) => ({ name: doc.hosts[i].name, site: doc.hosts[i].site ?? '' })), n, values: new Array(n * n).fill(null), classes, past: null,
    metric: 'health', unit: '', better: '', limits: { warn: 0, bad: 0, source: 'default' }, byPast: false, tally, scale: [1, ''], from: at, to: at, why,
  };
}

/** @param {{name: string, site?: string}} a @param {{name: string, site?: string}} b */
const compare = (a, b) => (a.site ?? '').localeCompare(b.site ?? '') || a.name.localeCompare(b.name, undefined, { numeric: true });

/**
 * The worst pairs, worst first: by class, then by how far they are beyond what they should be.
 * @param {Model} m
 * @param {number} most
 * @returns {number[]} cells
 */
export function worst(m, most) {
  const found = [];
  for (let i = 0; i < m.classes.length; i++) if (m.classes[i] === Bad || m.classes[i] === Warn) found.push(i);
  /** @param {number} i */
  const badness = (i) => {
    const v = m.values[i] ?? 0;
    const to = m.byPast ? m.past?.median[i] ?? 0 : m.limits.warn;
    return m.better === 'low' ? v / (to || 1e-9) : to / (v || 1e-9);
  };
  return found.sort((a, b) => m.classes[b] - m.classes[a] || badness(b) - badness(a)).slice(0, most);
}

/**
 * What to ask of since when cells are beyond what they should be; null: nothing can be asked.
 * @param {Model} m
 * @param {number[]} cells
 */
export function sinceQuery(m, cells) {
  if (m.better === '' || !cells.length) return null;
  const better = m.better;
  const past = m.past;
  const limits = m.byPast && past
    ? cells.map((i) => limitOf({ median: past.median[i], low: past.low[i], high: past.high[i] }, better) ?? 0) : [m.limits.warn];
  return { metric: m.metric, beyond: better === 'low' ? 'above' : 'below', limits: limits.map((l) => Number(l.toPrecision(6))).join(','),
    pairs: cells.map((i) => `${m.hosts[Math.floor(i / m.n)].name}/${m.hosts[i % m.n].name}`).join(',') };
}

/**
 * Cells whose look differs between two models of the same hosts; null: all of them do.
 * @param {Model | null} a
 * @param {Model} b
 */
export function differing(a, b) {
  if (!a || a.n !== b.n || a.scale[0] !== b.scale[0] || a.hosts.some((h, i) => h.name !== b.hosts[i].name || h.site !== b.hosts[i].site)) {
    return null;
  }
  const cells = [];
  for (let i = 0; i < b.classes.length; i++) if (a.classes[i] !== b.classes[i] || a.values[i] !== b.values[i]) cells.push(i);
  return cells;
}

/** @param {Model} m */
export const empty = (m) => m.classes.every((c) => c === None);
