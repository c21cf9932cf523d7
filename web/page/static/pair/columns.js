// From what the API answers to columns that a graph draws. Pure.

/** null: there is no value; undefined: none is to be there, so that a line goes on. @typedef {(number | null | undefined)[]} Column */
/** @typedef {{from: number, to: number, kind: Gap['kind'], runs: number, why: string}} Hole times in seconds */

/**
 * The gaps that lie in a range, cut at its ends: those of another range are as true, as far as it goes.
 * @param {Gap[] | null | undefined} gaps
 * @param {{from: number, to: number}} range in ms
 * @returns {Gap[]}
 */
export const within = (gaps, range) => (gaps ?? []).flatMap((g) => {
  const [from, to] = [Math.max(range.from, Date.parse(g.from)), Math.min(range.to, Date.parse(g.to))];
  return from < to ? [{ ...g, from: new Date(from).toISOString(), to: new Date(to).toISOString() }] : [];
});

/** @param {SeriesDoc | null | undefined} doc @returns {number[]} starts of its buckets, in seconds */
const startsOf = (doc) => (doc?.buckets ?? []).map((b) => Date.parse(b.start) / 1e3);

/**
 * One time for each bucket of the documents, in seconds, at the middle of its step; and one without a value in each gap of the
 * first, so that no line crosses it.
 * @param {SeriesDoc | null} doc
 * @param {(SeriesDoc | null | undefined)[]} [others] of the same step
 * @returns {{x: number[], row: Map<number, number>, holes: Hole[], own: Set<number>}} row finds the place of a bucket by its start;
 *   own are the places of others' buckets alone
 */
export function axisOf(doc, others = []) {
  const half = (doc?.step_seconds ?? others.find(Boolean)?.step_seconds ?? 0) / 2;
  const first = new Set(startsOf(doc));
  const starts = [...new Set([...first, ...others.flatMap(startsOf)])];
  const holes = (doc?.gaps ?? []).map((g) => ({
    from: Date.parse(g.from) / 1e3, to: Date.parse(g.to) / 1e3, kind: g.kind, runs: g.runs, why: g.why ?? '',
  }));
  const between = holes.filter((g) => g.to - g.from > half).map((g) => (g.from + g.to) / 2);
  const x = [...starts.map((s) => s + half), ...between].sort((a, b) => a - b);
  const unique = x.filter((v, i) => i === 0 || v > x[i - 1]);
  const place = new Map(unique.map((v, i) => [v, i]));
  const row = new Map(starts.map((s) => [s, /** @type {number} */ (place.get(s + half))]));
  return { x: unique, row, holes, own: new Set(starts.flatMap((s) => (first.has(s) ? [] : [/** @type {number} */ (row.get(s))]))) };
}

/**
 * A column of a document along an axis.
 * @param {SeriesDoc | null} doc
 * @param {ReturnType<typeof axisOf>} axis
 * @param {(b: Bucket) => number | undefined} pick
 * @returns {Column}
 */
export function column(doc, axis, pick) {
  const out = axis.x.map((_, i) => /** @type {Column[number]} */ (axis.own.has(i) ? undefined : null));
  for (const b of doc?.buckets ?? []) {
    const i = axis.row.get(Date.parse(b.start) / 1e3);
    if (i !== undefined) out[i] = pick(b) ?? null;
  }
  return out;
}

/**
 * A column of another time or another rhythm, drawn over an axis: the value of the bucket that is nearest, if it is near.
 * @param {SeriesDoc | null} doc
 * @param {number[]} x seconds
 * @param {number} later seconds to add to the document's times
 * @param {(b: Bucket) => number | undefined} pick
 * @returns {Column}
 */
export function nearest(doc, x, later, pick) {
  const half = (doc?.step_seconds ?? 0) / 2;
  const buckets = (doc?.buckets ?? []).map((b) => ({ at: Date.parse(b.start) / 1e3 + half + later, v: pick(b) ?? null }));
  const apart = buckets.slice(1).map((b, k) => b.at - buckets[k].at).sort((a, b) => a - b);
  const near = Math.max(2 * half, apart[Math.floor(apart.length * 0.9)] ?? 0); // of two rhythms, the slower one's
  let i = 0;
  return x.map((t) => {
    while (i < buckets.length - 1 && Math.abs(buckets[i + 1].at - t) <= Math.abs(buckets[i].at - t)) i++;
    const b = buckets[i];
    return b && Math.abs(b.at - t) <= near ? b.v : null;
  });
}

/**
 * The ends of a vertical axis that hold all columns; from 0 where that costs less than a third of the height.
 * @param {Column[]} columns
 * @param {boolean} zero from 0 in any case
 * @returns {[number, number]}
 */
export function extent(columns, zero) {
  let [low, high] = [Infinity, -Infinity];
  for (const c of columns) {
    for (const v of c) {
      if (v == null) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (low > high) return [0, 0];
  if (low === 0 && high === 0) return [0, 0];
  const pad = (high - low) * 0.08 || Math.abs(high) * 0.1;
  return [zero || low - pad < high * 0.34 ? Math.min(0, low) : low - pad, high + pad];
}

/**
 * The places of values that no line touches: they have none before and after them.
 * @param {Column} column
 * @returns {number[]}
 */
export function alone(column) {
  const places = column.flatMap((v, i) => (v === undefined ? [] : [i]));
  const none = (/** @type {number | undefined} */ i) => i === undefined || column[i] === null;
  return places.filter((i, k) => column[i] !== null && none(places[k - 1]) && none(places[k + 1]));
}

/** What a gap means. @param {Hole} g */
export function reason(g) {
  if (g.kind === 'missed') return `${g.runs || 'some'} planned ${g.runs === 1 ? 'run' : 'runs'} missed${g.why ? ': ' + g.why : ''}`;
  if (g.kind === 'failed') return `${g.runs || 'some'} ${g.runs === 1 ? 'run' : 'runs'} without this value: all was lost, or the run failed`;
  return 'nothing was planned';
}
