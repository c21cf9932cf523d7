// What a slider of each setting goes from and to, and how its place is written as a lab file has it. Pure.
import { format } from '../format.js';

/**
 * One setting with a slider. least and most are in SI units, a step of the slider is a factor. What is left of least, or right
 * of most, is the setting's default: it is taken away.
 * @typedef {{key: string, label: string, unit: string, least: number, most: number, off: 'left' | 'right', none: string, write: (v: number) => string, about: string}} Scale
 */

/** How many steps a slider has, the default not counted. */
export const steps = 120;

/** @param {number} v */
const two = (v) => String(Number(v.toPrecision(2)));
/** @param {number} v seconds */
const time = (v) => (v >= 1 ? two(v) + 's' : v >= 1e-3 ? two(v * 1e3) + 'ms' : two(v * 1e6) + 'us');
/** @param {number} v */
const share = (v) => two(v * 100) + '%';
/** @param {number} v bit/s */
const rate = (v) => (v >= 1e9 ? two(v / 1e9) + 'gbit' : v >= 1e6 ? two(v / 1e6) + 'mbit' : two(v / 1e3) + 'kbit');

/** @type {Scale[]} */
export const scales = [
  { key: 'delay', label: 'Delay', unit: 'seconds', least: 1e-5, most: 10, off: 'left', none: 'none', write: time, about: 'of propagation, one way' },
  { key: 'jitter', label: 'Jitter', unit: 'seconds', least: 1e-5, most: 1, off: 'left', none: 'none', write: time, about: 'added to the delay, evenly, up to this more or less' },
  { key: 'loss', label: 'Loss', unit: 'ratio', least: 1e-5, most: 1, off: 'left', none: 'none', write: share, about: 'of packets, each by itself' },
  { key: 'duplicate', label: 'Duplication', unit: 'ratio', least: 1e-5, most: 1, off: 'left', none: 'none', write: share, about: 'of packets come twice' },
  { key: 'reorder', label: 'Reordering', unit: 'ratio', least: 1e-5, most: 1, off: 'left', none: 'none', write: share, about: 'of packets are held back by 10 ms' },
  { key: 'corrupt', label: 'Corruption', unit: 'ratio', least: 1e-5, most: 1, off: 'left', none: 'none', write: share, about: 'of packets have a bit turned' },
  { key: 'rate', label: 'Rate', unit: 'bits_per_second', least: 1e3, most: 1e10, off: 'right', none: 'no limit', write: rate, about: 'of the line, overhead counted' },
  { key: 'queue', label: 'Queue', unit: 'seconds', least: 1e-3, most: 10, off: 'left', none: 'default', write: time, about: 'what may wait for the line: a time, 500p or 250kB; needs a rate' },
  { key: 'mtu', label: 'MTU', unit: 'bytes', least: 576, most: 9000, off: 'right', none: 'no limit', write: (v) => Math.round(v) + 'B', about: 'the largest packet' },
];

/** Where a slider has its default: its other places are 1 to steps. @param {Scale} s */
export const offAt = (s) => (s.off === 'left' ? 0 : steps + 1);

/**
 * The slider's place for a value. undefined: the default holds.
 * @param {Scale} s
 * @param {number | undefined} value
 */
export function placeOf(s, value) {
  if (value === undefined || (value <= 0 && s.off === 'left')) return offAt(s);
  const share = Math.log(Math.max(s.least, Math.min(s.most, value)) / s.least) / Math.log(s.most / s.least);
  return Math.round(share * (steps - 1)) + 1;
}

/**
 * What is set when a slider stands at a place; '' takes the setting away.
 * @param {Scale} s
 * @param {number} place
 */
export function textAt(s, place) {
  if (place === offAt(s)) return '';
  return s.write(s.least * (s.most / s.least) ** ((place - 1) / (steps - 1)));
}

/**
 * What is set, for people: a number with its unit, else the text.
 * @param {LabWay} way
 * @param {string} key
 * @param {string} unit
 */
export function shown(way, key, unit) {
  const value = way.values[key];
  const text = way.settings[key];
  if (text === undefined) return '';
  return value !== undefined && !/[{[]/.test(text) ? format(value, unit) : text;
}
