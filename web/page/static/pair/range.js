// The span that graphs show: chosen in the URL, dragged, moved and widened. Pure but for the names of days.
import { parseTime, rfc, stepOf } from '../times.js';

/** @typedef {{from: number, to: number, step: number, live: boolean}} Range times in ms; live: it ends now */

export const spans = { '1h': '1 hour', '6h': '6 hours', '1d': '1 day', '1w': '1 week', '30d': '30 days', '1y': '1 year' };
const room = 320; // buckets: one for each few pixels of half a large screen
const least = 1000; // ms: samples are no finer than their clocks

/**
 * The range of a URL. Its ends are multiples of its step, so that the same question is asked until a step is over.
 * @param {URLSearchParams} query
 * @param {number} now
 * @returns {Range}
 */
export function rangeOf(query, now) {
  const end = parseTime(query.get('to'), now);
  const to = end ?? now;
  const begin = parseTime(query.get('from') ?? '-1d', to) ?? to - 86400e3;
  const length = Math.max(least, to - begin);
  const step = stepOf(length, room);
  return { from: Math.floor((to - length) / step) * step, to: Math.ceil(to / step) * step, step, live: end === null };
}

/**
 * The parameters of a range that somebody drew, with no more digits than mean something.
 * @param {number} from
 * @param {number} to
 */
export function drawn(from, to) {
  const length = Math.max(least, to - from);
  const middle = (from + to) / 2;
  const grain = length > 3600e3 ? 60e3 : length > 60e3 ? 1e3 : 1;
  /** @param {number} t */
  const round = (t) => rfc(Math.round(t / grain) * grain);
  return { from: round(middle - length / 2), to: round(middle + length / 2) };
}

/**
 * Zooms around a time, by a factor.
 * @param {Range} r
 * @param {number} at
 * @param {number} factor below 1: in
 */
export const zoomed = (r, at, factor) => drawn(at - (at - r.from) * factor, at + (r.to - at) * factor);

/**
 * Moves by a share of the range.
 * @param {Range} r
 * @param {number} share
 */
export const shifted = (r, share) => drawn(r.from + (r.to - r.from) * share, r.to + (r.to - r.from) * share);
