// How good a value is: by limits, or by the pair's own past. Pure.

/** Classes of a value, from nothing to worst. Better is only for comparisons with the past. */
export const None = 0;
export const Better = 1;
export const Good = 2;
export const Warn = 3;
export const Bad = 4;

/** What each class is called, by limits and by the past, and its mark for who does not see colour. */
export const words = [
  { limit: 'no value', past: 'no value', mark: '' },
  { limit: 'good', past: 'better than usual', mark: '+' },
  { limit: 'good', past: 'as usual', mark: '' },
  { limit: 'warning', past: 'unusual', mark: '•' },
  { limit: 'bad', past: 'far from usual', mark: '×' },
];

/** @typedef {{warn: number, bad: number, source: 'chosen' | 'default' | 'matrix'}} Limits */

/**
 * The limits that hold: chosen ones, else those that the catalogue has for the metric, else such as the matrix gives: of what is better
 * high four fifths and half of the value in the middle, as the first page judges a rate that is declared; of all else the worst fifth and
 * twentieth of the values.
 * @param {{warn: number | null, bad: number | null}} chosen
 * @param {{warn?: number, bad?: number} | undefined} known
 * @param {(number | null)[]} values
 * @param {'low' | 'high' | ''} better '': neither is to be wished for
 * @returns {Limits}
 */
export function limitsOf(chosen, known, values, better) {
  let warn = known?.warn;
  let bad = known?.bad;
  /** @type {Limits['source']} */
  let source = 'default';
  if (warn === undefined || bad === undefined) {
    const sorted = values.filter((v) => v !== null).sort((a, b) => (better === 'low' ? a - b : b - a));
    /** @param {number} q */
    const at = (q) => (sorted.length ? Number(sorted[Math.floor(q * (sorted.length - 1))].toPrecision(2)) : 0);
    [warn, bad, source] = better === 'high' ? [0.8 * at(0.5), 0.5 * at(0.5), 'matrix'] : [at(0.8), at(0.95), 'matrix'];
  }
  if (chosen.warn !== null || chosen.bad !== null) source = 'chosen';
  return { warn: chosen.warn ?? warn, bad: chosen.bad ?? bad, source };
}

/**
 * @param {number | null} value
 * @param {Limits} limits
 * @param {'low' | 'high' | ''} better '': neither is to be wished for
 */
export function byLimits(value, limits, better) {
  if (value === null) return None;
  if (better === '') return Good;
  const worse = better === 'low' ? (/** @type {number} */ l) => value > l : (/** @type {number} */ l) => value < l;
  return worse(limits.bad) ? Bad : worse(limits.warn) ? Warn : Good;
}

const far = 3; // times as far from the median as what was usual in its past
const least = 0.1; // of the median: less than that is no change to anybody, however steady the past was

/** How far from the median is usual on one side of it. @param {number} median @param {number} edge */
const usually = (median, edge) => Math.max(Math.abs(edge - median), Math.abs(median) * least);

/**
 * The worst value that is as usual; null: nobody knows.
 * @param {{median: number | null, low: number | null, high: number | null}} past
 * @param {'low' | 'high'} better
 */
export function limitOf(past, better) {
  if (past.median === null || past.low === null || past.high === null) return null;
  return better === 'low' ? past.median + usually(past.median, past.high) : past.median - usually(past.median, past.low);
}

/**
 * @param {number | null} value
 * @param {{median: number | null, low: number | null, high: number | null}} past 5th, 50th and 95th percentile
 * @param {'low' | 'high' | ''} better '': neither is to be wished for
 */
export function byPast(value, past, better) {
  if (value === null || past.median === null || past.low === null || past.high === null) return None;
  const edge = value > past.median ? past.high : past.low;
  const off = Math.abs(value - past.median);
  const usual = usually(past.median, edge);
  if (off <= usual) return Good;
  if (better !== '' && (value < past.median) === (better === 'low')) return Better;
  return off > far * usual ? Bad : Warn;
}

/**
 * How a value stands to its past, for people: +40 %, ×3.1, −8 %.
 * @param {number} value
 * @param {number} median
 */
export function change(value, median) {
  if (median === 0) return value === 0 ? '±0' : 'new';
  const ratio = value / median;
  if (ratio >= 2) return '×' + (ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1));
  const percent = Math.round((ratio - 1) * 100);
  return percent === 0 ? '±0' : (percent > 0 ? '+' : '−') + Math.abs(percent) + ' %';
}
