// Where things are in the matrix, in CSS pixels: sites stand apart, so a host's place is not its number times a size. Pure.

/**
 * @typedef {{size: number, places: Float64Array, full: number, label: number, head: number, groups: {site: string, from: number, to: number}[]}} Layout
 * places[i] is where host i begins, full the length of all, label and head what the row and column names take; groups are
 * runs of hosts of one site.
 */

export const smallest = 6;
export const largest = 140;
const marks = 13; // a mark needs that many pixels
const numbers = 42; // two numbers do

/** @param {number} size */
export const showsMarks = (size) => size >= marks;
/** @param {number} size */
export const showsNumbers = (size) => size >= numbers;
/** @param {number} size */
export const showsNames = (size) => size >= 10;

/**
 * @param {{name: string, site: string}[]} hosts
 * @param {number} size of a cell
 * @param {number} name the width of the longest name
 * @returns {Layout}
 */
export function layoutOf(hosts, size, name) {
  const gap = size >= marks ? 6 : 3;
  const places = new Float64Array(hosts.length);
  /** @type {Layout['groups']} */
  const groups = [];
  let at = 0;
  hosts.forEach((h, i) => {
    const last = groups.at(-1);
    if (last && last.site === h.site) last.to = i;
    else {
      if (last) at += gap;
      groups.push({ site: h.site, from: i, to: i });
    }
    places[i] = at;
    at += size;
  });
  return { size, places, full: at, label: name + 8, head: name + 8, groups };
}

/**
 * The size of a cell at which all hosts fit.
 * @param {number} n
 * @param {number} groups
 * @param {number} room
 */
export function fitting(n, groups, room) {
  const size = Math.floor((room - (groups - 1) * 6) / Math.max(n, 1));
  return Math.max(smallest, Math.min(largest, size));
}

/**
 * The host at a place; -1 between sites and beyond.
 * @param {Layout} l
 * @param {number} at
 */
export function hostAt(l, at) {
  let low = 0;
  let high = l.places.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (l.places[mid] <= at) low = mid;
    else high = mid - 1;
  }
  return high >= 0 && at >= l.places[low] && at < l.places[low] + l.size ? low : -1;
}

/**
 * The first host that reaches beyond a place, to paint from there.
 * @param {Layout} l
 * @param {number} at
 */
export function firstAt(l, at) {
  let i = 0;
  while (i < l.places.length - 1 && l.places[i] + l.size <= at) i++;
  return i;
}
