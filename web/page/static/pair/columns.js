// From what the API answers to columns that a graph draws. Pure.

/** @typedef {(number | null)[]} Column */
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

/**
 * One time for each bucket of the first document, in seconds, at the middle of its step; and one without a value in each gap,
 * so that no line crosses it.
 * @param {SeriesDoc | null} doc
 * @returns {{x: number[], row: Map<number, number>, holes: Hole[]}} row finds the place of a bucket by its start
 */
export function axisOf(doc) {
  const half = (doc?.step_seconds ?? 0) / 2;
  const starts = (doc?.buckets ?? []).map((b) => Date.parse(b.start) / 1e3);
  const holes = (doc?.gaps ?? []).map((g) => ({
    from: Date.parse(g.from) / 1e3, to: Date.parse(g.to) / 1e3, kind: g.kind, runs: g.runs, why: g.why ?? '',
  }));
  const between = holes.filter((g) => g.to - g.from > half).map((g) => (g.from + g.to) / 2);
  const x = [...starts.map((s) => s + half), ...between].sort((a, b) => a - b);
  const unique = x.filter((v, i) => i === 0 || v > x[i - 1]);
  const place = new Map(unique.map((v, i) => [v, i]));
  return { x: unique, row: new Map(starts.map((s) => [s, /** @type {number} */ (place.get(s + half))])), holes };
}

/**
 * A column of a document along an axis.
 * @param {SeriesDoc | null} doc
 * @param {ReturnType<typeof axisOf>} axis
 * @param {(b: Bucket) => number | undefined} pick
 * @returns {Column}
 */
export function column(doc, axis, pick) {
  const out = new Array(axis.x.length).fill(null);
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
      if (v === null) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  if (low > high) return [0, 0];
  if (low === 0 && high === 0) return [0, 0];
  const pad = (high - low) * 0.08 || Math.abs(high) * 0.1;
  return [zero || low - pad < high * 0.34 ? Math.min(0, low) : low - pad, high + pad];
}

/** What a gap means. @param {Hole} g */
export function reason(g) {
  if (g.kind === 'missed') return `${g.runs || 'some'} planned ${g.runs === 1 ? 'run' : 'runs'} missed${g.why ? ': ' + g.why : ''}`;
  if (g.kind === 'failed') return `${g.runs || 'some'} ${g.runs === 1 ? 'run' : 'runs'} without this value: all was lost, or the run failed`;
  return 'nothing was planned';
}
