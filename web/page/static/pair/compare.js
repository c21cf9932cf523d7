// What a graph is compared with: another pair, the way back, another tool or test, an earlier time. All of it is in the URL:
// with=a/b, with=reverse, with=tool:NAME, with=test:NAME and shift=-7d, which may stand beside another. Pure.
import { parseLength } from '../times.js';

/** @typedef {[string, string]} Pair */
/**
 * tool, test: '' where they are the graph's own; earlier in ms; pair: null, the graph's own, or 'reverse'.
 * @typedef {{earlier: number, pair: Pair | 'reverse' | null, tool: string, test: string, name: string} | null} Compared
 */

export const shifts = { '-1d': 'a day before', '-7d': 'a week before', '-28d': 'four weeks before', '-365d': 'a year before' };

/**
 * @param {string | null} text what with says
 * @param {string | null} [shift] what shift says
 * @returns {Compared} null: nothing, or nothing that there is
 */
export function comparedOf(text, shift = null) {
  if (text?.startsWith('-')) return comparedOf(null, text); // with=-7d is as good
  const earlier = (shift?.startsWith('-') && parseLength(shift.slice(1))) || 0;
  const ago = earlier && shift ? shifts[/** @type {keyof typeof shifts} */ (shift)] ?? `${shift.slice(1)} before` : '';
  const other = otherOf(text ?? '');
  if (!other && (!earlier || text)) return null;
  const { pair = null, tool = '', test = '', name = '' } = other ?? {};
  return { earlier, pair, tool, test, name: [name, ago].filter(Boolean).join(', ') };
}

/**
 * @param {string} text
 * @returns {{pair?: Pair | 'reverse', tool?: string, test?: string, name: string} | null}
 */
function otherOf(text) {
  const [, kind, name] = /^(tool|test):(.+)$/.exec(text) ?? [];
  if (kind) return { [kind]: name, name: `${kind} ${name}` };
  if (text === 'reverse') return { pair: text, name: 'the other direction' };
  const [a, b, more] = text.split('/');
  return a && b && more === undefined ? { pair: [a, b], name: `${a} → ${b}` } : null;
}

/**
 * The pair that a graph of a way is compared with.
 * @param {NonNullable<Compared>} compared
 * @param {Pair} way of the graph
 * @param {boolean} back it is the way back
 * @returns {Pair}
 */
export function pairOf({ pair }, way, back) {
  if (!pair) return way;
  return pair === 'reverse' || back ? turned(pair === 'reverse' ? way : pair) : pair;
}

/** @param {Pair} pair @returns {Pair} */
export const turned = ([a, b]) => [b, a];

/** Both ways of a pair; what a host measures of itself has one. @param {Pair} pair @returns {Pair[]} */
export const waysOf = (pair) => (pair[0] === pair[1] ? [pair] : [pair, turned(pair)]);

/** A way in words. @param {Pair} way */
export const wayText = ([a, b]) => (a === b ? a : `${a} → ${b}`);

/** A pair that somebody wrote: "a/b", "a → b", "a b"; null if it is none. @param {string} text */
export function pairText(text) {
  const names = text.trim().split(/\s*(?:→|->|>|\/|\s)\s*/).filter(Boolean);
  return names.length === 2 ? names.join('/') : null;
}
