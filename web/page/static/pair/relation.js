// Whether two metrics go together: points where both have a value, and two coefficients, in numbers and in words. Pure.

/** @typedef {{at: number, x: number, y: number}} Point at: the start of its bucket, in ms */

/**
 * The buckets that both documents have.
 * @param {SeriesDoc | null} a
 * @param {SeriesDoc | null} b
 * @param {(b: Bucket) => number | undefined} pickA
 * @param {(b: Bucket) => number | undefined} pickB
 * @returns {Point[]}
 */
export function joined(a, b, pickA, pickB) {
  const others = new Map((b?.buckets ?? []).map((o) => [Date.parse(o.start), pickB(o)]));
  return (a?.buckets ?? []).flatMap((o) => {
    const at = Date.parse(o.start);
    const [x, y] = [pickA(o), others.get(at)];
    return x === undefined || y === undefined ? [] : [{ at, x, y }];
  });
}

/**
 * Pearson's r: how well a straight line holds. null: fewer than two points, or one of both never changes.
 * @param {number[]} xs
 * @param {number[]} ys as many
 */
export function pearson(xs, ys) {
  const n = xs.length;
  const [mx, my] = [xs, ys].map((v) => v.reduce((s, x) => s + x, 0) / n);
  let [xx, yy, xy] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [dx, dy] = [xs[i] - mx, ys[i] - my];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  // Sums of values that are all the same differ from 0 by no more than rounding.
  const still = (/** @type {number} */ sum, /** @type {number} */ mean) => !(sum > n * (mean * 1e-12) ** 2);
  if (n < 2 || still(xx, mx) || still(yy, my)) return null;
  return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
}

/**
 * The places of values in order, from 1; equal ones share the mean of theirs.
 * @param {number[]} values
 */
export function ranks(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const out = new Array(values.length);
  for (let i = 0; i < order.length; ) {
    let end = i;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[i]]) end++;
    for (let k = i; k <= end; k++) out[order[k]] = (i + end) / 2 + 1;
    i = end + 1;
  }
  return out;
}

/** Spearman's rho: how well any rising or falling line holds. @param {number[]} xs @param {number[]} ys */
export const spearman = (xs, ys) => pearson(ranks(xs), ranks(ys));

const few = 8; // below, chance alone makes a coefficient of 0.7 once in twenty times
const strengths = /** @type {const} */ ([[0.8, 'a very close'], [0.6, 'a close'], [0.4, 'a clear'], [0.2, 'a weak']]);

/**
 * What coefficients say. Spearman's decides, since a few far points do not move it.
 * @param {number | null} r Pearson's
 * @param {number | null} rho Spearman's
 * @param {number} n points
 */
export function inWords(r, rho, n) {
  if (n < few) return `too few points to say: there must be ${few}`;
  if (r === null || rho === null) return 'one of both never changes, so nothing can be said';
  const size = Math.abs(rho);
  // Without a relation, t is beyond 2 once in twenty times.
  const chance = size < 1 && size * Math.sqrt((n - 2) / (1 - size * size)) < 2;
  const found = chance ? undefined : strengths.find(([limit]) => size >= limit);
  const apart = Math.abs(r) - size;
  const far = apart > 0.25 ? '; a few far points make the straight line look better than it is' : '';
  if (!found) return 'no relation to speak of' + far;
  const bent = apart < -0.25 ? '; the line is bent, or a few far points hide it' : '';
  const together = rho > 0 ? 'both rise together' : 'one falls as the other rises';
  return `${found[1]} relation: ${together}${far}${bent}`;
}
