// What a link does, in a word and a mark; and what passes it now. Pure.
import { format } from '../format.js';
import { shown } from './scales.js';

const loses = ['loss', 'corrupt', 'outage', 'police', 'duplex'];
const disturbs = ['jitter', 'drift', 'creep', 'duplicate', 'reorder', 'mtu', 'rules', 'shaper'];

/** Classes of links, mildest first: the mark is beside the line, for who does not see its colour. */
export const kinds = /** @type {const} */ ([
  { name: 'plain', mark: '', text: 'delay and rate only' },
  { name: 'disturbs', mark: '~', text: 'varies, reorders, duplicates or limits' },
  { name: 'loses', mark: '•', text: 'loses packets' },
  { name: 'down', mark: '×', text: 'cut' },
]);

/** @param {LabWay} way @param {string} key */
const acts = (way, key) => way.settings[key] !== undefined && !/^(0%|0s|none|full|\[\])$/.test(way.settings[key]);

/** What a link does, on either way, that no path should: what may be taken from it to cure it. @param {LabLink} link */
export const harm = (link) => [...loses, 'jitter', 'duplicate', 'reorder', 'rules'].filter((key) => acts(link.forward, key) || acts(link.reverse, key));

/** The place of a way in kinds. @param {LabWay} way */
export function kindOf(way) {
  if (way.values.down) return 3;
  return loses.some((k) => acts(way, k)) ? 2 : disturbs.some((k) => acts(way, k)) ? 1 : 0;
}

/** @param {LabLink} link */
export const kindOfLink = (link) => Math.max(kindOf(link.forward), kindOf(link.reverse));

/** A way that does nothing. */
export const unlimited = 'no limit';

/** A way in short: 50 Mbit/s, 5 ms, 1 %. @param {LabWay} way */
export function brief(way) {
  if (way.values.down) return 'cut';
  const parts = [['rate', 'bits_per_second'], ['delay', 'seconds'], ['loss', 'ratio']].map(([k, unit]) => {
    const text = shown(way, k, unit);
    return k === 'loss' && text ? (text.includes('{') ? 'some lost' : text === '0\u00a0%' ? '' : text + ' lost') : text;
  });
  return parts.filter(Boolean).join(', ') || unlimited;
}

/**
 * What passes a way between two documents, a second; lost is of what came in that time, null if nothing came.
 * @param {LabWay} now
 * @param {LabWay | undefined} before
 * @param {number} seconds
 */
export function passing(now, before, seconds) {
  if (!before || seconds <= 0) return { bits: 0, packets: 0, lost: null };
  const lost = now.lost_packets - before.lost_packets;
  const all = lost + now.delivered_packets - before.delivered_packets;
  return {
    bits: ((now.delivered_bytes - before.delivered_bytes) * 8) / seconds,
    packets: (now.delivered_packets - before.delivered_packets) / seconds,
    lost: all > 0 ? lost / all : null,
  };
}

/** @param {LabLink} link */
export const nameOf = (link) => link.between.join(' – ');

/** What a link is told as: to who does not see the drawing. @param {LabLink} l */
export function told(l) {
  const [a, b] = l.between;
  const [f, r] = [brief(l.forward), brief(l.reverse)];
  return `${a} to ${b}: ${f}${f === r ? ', both ways' : `; ${b} to ${a}: ${r}`}. ${kinds[kindOfLink(l)].text}`;
}

/** @param {number} bits */
export const rateText = (bits) => (bits > 0 ? format(bits, 'bits_per_second') : '0');
