// From values to places on an axis, and the ticks that tell them back. Pure.
import { format, scaleOf } from '../format.js';

/**
 * place: from a value to a share of the axis, 0 to 1; label: with the unit of the ticks, where they have one in common.
 * @typedef {{place: (v: number) => number, ticks: {at: number, text: string}[], label: string}} Scale
 */

const most = 6; // ticks: as many as a phone has room for

/**
 * The scale of an axis on which the values lie.
 * @param {CalcAxis} axis
 * @param {number[]} values
 * @returns {Scale}
 */
export function scaleFor(axis, values) {
  const fit = values.filter((v) => Number.isFinite(v) && (v > 0 || !axis.log));
  let low = fit.reduce((a, b) => Math.min(a, b), Infinity);
  let high = fit.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!fit.length) [low, high] = [1, 10];
  if (!axis.log) low = Math.min(0, low);
  if (low === high) high = low ? low * 2 : 1;
  return axis.log ? byFactors(axis, low, high) : bySteps(axis, low, high);
}

/** @param {CalcAxis} axis @param {number} low @param {number} high @returns {Scale} */
function bySteps(axis, low, high) {
  const [factor, unit] = scaleOf(Math.max(-low, high), axis.unit);
  const step = niceStep((high - low) / factor / most);
  const ticks = [];
  for (let n = Math.ceil(low / factor / step); n * step <= (high / factor) * (1 + 1e-9) && ticks.length < 3 * most; n++) {
    ticks.push({ at: n * step * factor, text: plain(n * step) });
  }
  const named = unit || (axis.unit === 'packets' ? axis.unit : '');
  return { place: (v) => (v - low) / (high - low), ticks, label: axis.label + (named && `, ${named}`) };
}

/** @param {number} least */
function niceStep(least) {
  const ten = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((f) => f * ten >= least * (1 - 1e-9)) ?? 10) * ten;
}

/** Where ticks may stand in a decade, the finest first: windows of 32 to 128 kB are less than one decade. */
const parts = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3]];

/** @param {CalcAxis} axis @param {number} low @param {number} high @returns {Scale} */
function byFactors(axis, low, high) {
  const [from, to] = [Math.log10(low), Math.log10(high)];
  const every = Math.max(1, Math.ceil((to - from) / most));
  const decades = Array.from({ length: Math.floor(to) - Math.floor(from) + 1 }, (_, i) => Math.floor(from) + i).filter((n) => n % every === 0);
  const within = (/** @type {number[]} */ each) => decades.flatMap((n) => each.map((f) => f * 10 ** n)).filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  const values = (every > 1 ? [] : parts).map(within).find((all) => all.length <= most) ?? within([1]);
  return { place: (v) => (Math.log10(v) - from) / (to - from), ticks: values.map((at) => ({ at, text: tidy(format(at, axis.unit)) })), label: axis.label };
}

/** @param {number} v */
const plain = (v) => String(Number(v.toPrecision(6))).replace('-', '−');

/** 1.00 s as 1 s. @param {string} text */
export const tidy = (text) => text.replace(/(\d\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
