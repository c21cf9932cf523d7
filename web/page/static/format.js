// Numbers for people: SI units in powers of ten, three significant digits.

const nbsp = ' ';

/** @type {Record<string, {units: [number, string][]}>} */
const scales = {
  seconds: { units: [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']] },
  bits_per_second: { units: rates('bit/s') },
  bytes_per_second: { units: rates('B/s') },
  packets_per_second: { units: rates('packets/s') },
  bytes: { units: rates('B') },
  ratio: { units: [[1e-2, '%']] },
  parts_per_million: { units: [[1e-6, 'ppm']] },
};

/** @param {string} unit @returns {[number, string][]} */
function rates(unit) {
  return [[1e12, 'T' + unit], [1e9, 'G' + unit], [1e6, 'M' + unit], [1e3, 'k' + unit], [1, unit]];
}

/** The names of units, longest first where one ends in another. */
export const units = ['bits_per_second', 'bytes_per_second', 'packets_per_second', 'seconds', 'bytes', 'ratio', 'packets', 'score', 'count'];

/** Metrics that people know in another unit than their name ends in: a clock that is wrong by millionths. @type {Record<string, string>} */
const usual = { clock_skew_ratio: 'parts_per_million' };

/**
 * The unit that a metric is shown in: as a rule that which its name ends in.
 * @param {string} metric
 */
export const unitOf = (metric) => usual[metric] ?? units.find((u) => metric.endsWith('_' + u)) ?? '';

/**
 * The factor and the name of the unit that suits a size: 0.0124 s are shown in ms. Seconds change to minutes only above two,
 * as on the command line; bytes to kB only from ten on, since sizes of packets are told to the byte.
 * @param {number} size
 * @param {string} unit of the archive
 * @returns {[number, string]}
 */
export function scaleOf(size, unit) {
  const all = scales[unit]?.units;
  if (!all) return [1, ''];
  const known = Math.abs(size) * 1.0005; // 999.6 µs become 1.00 ms
  const fit = all.find(([f]) => known >= (f === 60 || f === 3600 || f === 86400 ? 2 * f : unit === 'bytes' && f === 1e3 ? 10 * f : f));
  if (size === 0) return unit === 'seconds' ? [1e-3, 'ms'] : /** @type {[number, string]} */ (all.at(-1));
  return fit ?? /** @type {[number, string]} */ (all.at(-1));
}

/**
 * A number with three significant digits and no exponent, such as 12.4, 0.00310 and 1 240.
 * @param {number} value
 */
export function digits(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const after = size >= 99.95 ? 0 : Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(size * 1.0005)))); // 9.999 is 10.0
  let text = size.toFixed(after);
  if (size >= 1e4) text = text.replace(/\B(?=(\d{3})+$)/g, ' ');
  return (value < 0 ? '−' : '') + text;
}

/**
 * A value with its unit: 12.4 ms, 94.1 Mbit/s, 0.12 %.
 * @param {number | null | undefined} value
 * @param {string} unit
 */
export function format(value, unit) {
  if (value == null || !Number.isFinite(value)) return 'none';
  const [factor, name] = scaleOf(value, unit);
  return (name === '%' ? percent(value) : name ? digits(value / factor) : count(value)) + (name && nbsp + name);
}

const z = 1.96; // standard deviations on either side hold 95 % of a normal distribution

/**
 * The interval that holds a share with 95 %, of which so many of so many were seen (Wilson, 1927).
 * @param {number} some
 * @param {number} all above 0
 * @returns {[number, number]}
 */
export function likely(some, all) {
  const [p, of] = [some / all, 1 + (z * z) / all];
  const middle = (p + (z * z) / (2 * all)) / of;
  const half = (z / of) * Math.sqrt((p * (1 - p)) / all + (z * z) / (4 * all * all));
  return [some === 0 ? 0 : middle - half, some === all ? 1 : middle + half];
}

/**
 * A share with what it was counted of, and no more digits than the count deserves: 0.9 % (7 of 801), 0.4 to 1.8 %.
 * @param {number | null | undefined} ratio
 * @param {number | null | undefined} of how many were counted; none: nobody knows
 * @param {boolean} [brief] without what else it may be
 * @param {string} [unit] of what is no share
 */
export function share(ratio, of, brief, unit = 'ratio') {
  const all = Math.round(of ?? 0);
  if (ratio == null || !(all > 0)) return format(ratio, unit);
  const some = Math.round(ratio * all);
  const [low, high] = likely(some, all);
  let after = Math.max(0, Math.min(9, Math.floor(1.35 - Math.log10(100 * (high - low)))));
  const exact = (100 * some) / all;
  if (Math.abs(Number(exact.toFixed(after)) - exact) > 0.1 * exact) after++; // 1 of 40 is 2.5 %, and not 3 %
  const text = (/** @type {number} */ v) => (v === 0 ? '0' : v === 1 ? '100' : (100 * v).toFixed(after));
  const whole = `${text(some / all)}${nbsp}% (${count(some)} of ${count(all)})`;
  return brief ? whole : `${whole}, ${text(low)} to ${text(high)}${nbsp}%`;
}

/** @param {number} ratio */
function percent(ratio) {
  const p = ratio * 100;
  if (p > 99.9 && p < 100) return '>99.9'; // all but a few is not all
  return digits(p).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** @param {number} value */
function count(value) {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, ' ').replace('-', '−') : digits(value);
}

/**
 * A value in little room: its number in a unit that the caller names elsewhere.
 * @param {number} value
 * @param {number} factor
 */
export function short(value, factor) {
  const v = value / factor;
  const size = Math.abs(v);
  if (size >= 1e5) return (v / 1e3).toFixed(0) + 'k';
  if (size >= 99.95) return v.toFixed(0);
  if (size >= 9.995) return v.toFixed(1);
  if (size === 0) return '0';
  return size >= 0.01 ? v.toFixed(2) : '<0.01';
}

/**
 * How much of one thing there is.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (n, one, many = one + 's') => `${count(n)}${nbsp}${n === 1 ? one : many}`;

/** What a metric is called, within a sentence: Loss, and MTU of a path, as loss, and MTU of a path. @param {string} label */
export const inText = (label) => (/^[A-Z][a-z]/.test(label) ? label[0].toLowerCase() + label.slice(1) : label);
