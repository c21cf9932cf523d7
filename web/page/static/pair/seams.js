// One series of what several tools measured: of each time the tool that counts most there, and where one takes over from another. Pure.

/** A bucket with the tool that it is of, where that is not the series' own. @typedef {Bucket & {by?: string}} Own */
/** at: in seconds; tool: whose values follow. @typedef {{at: number, tool: string}} Seam */

const patience = 3; // times its usual distance that a tool has until another one's values are taken

/** @param {Bucket[]} buckets @param {number} step ms @returns {(at: number) => boolean} whether values of a tool stand near a time in ms */
function covering(buckets, step) {
  const starts = buckets.map((b) => Date.parse(b.start));
  const apart = starts.slice(1).map((s, i) => s - starts[i]).sort((a, b) => a - b);
  const near = patience * Math.max(step, apart[Math.floor(apart.length / 2)] ?? 0);
  let i = 0;
  return (at) => {
    while (i < starts.length - 1 && starts[i + 1] <= at) i++;
    while (i > 0 && starts[i] > at) i--;
    const [before, after] = [starts[i], starts[i + 1]];
    if (before === undefined) return false;
    if (after === undefined && at > before) return at - before < near / patience; // it may measure no more: what another one has is newer
    return Math.abs(at - before) < near || (after !== undefined && after - at < near);
  };
}

/**
 * The series of the first tool, with values of the others where it has none for long.
 * @param {{tool: string, doc: SeriesDoc | null | undefined}[]} parts of the same steps, in the order in which they count
 * @param {(tool: string) => boolean} [generated] whether nobody measured what a tool has
 * @returns {{doc: SeriesDoc | null, seams: Seam[]}}
 */
export function oneSeries(parts, generated = () => false) {
  const some = parts.filter((p) => p.doc);
  const doc = parts[0]?.doc ?? (some[0]?.doc ? { ...some[0].doc, buckets: [], gaps: null } : null);
  if (!doc || some.length < 2 && parts[0]?.doc) return { doc, seams: [] };
  /** @type {Own[]} */
  let buckets = doc.buckets;
  for (const { tool, doc: other } of some) {
    if (other === doc || other?.step_seconds !== doc.step_seconds) continue;
    const covered = covering(buckets, doc.step_seconds * 1e3);
    const more = other.buckets.filter((b) => !covered(Date.parse(b.start))).map((b) => ({ ...b, by: tool }));
    buckets = [...buckets, ...more].sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
  }
  const own = parts[0].tool;
  /** @param {number} i */
  const named = (i) => {
    const [before, after] = [buckets[i - 1].by ?? own, buckets[i].by ?? own];
    return generated(before) && !generated(after) ? `${after}, before: generated` : after;
  };
  const seams = buckets.flatMap((b, i) => (i > 0 && (b.by ?? own) !== (buckets[i - 1].by ?? own)
    ? [{ at: (Date.parse(buckets[i - 1].start) + Date.parse(b.start)) / 2e3 + doc.step_seconds / 2, tool: named(i) }] : []));
  return { doc: { ...doc, buckets }, seams };
}
