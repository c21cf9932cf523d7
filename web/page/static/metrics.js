// What is known of metrics beyond their names: how people call them, where they are worth a warning, in which order they come.
import { unitOf } from './format.js';

/**
 * warn and bad are defaults, in SI units: what an engineer on duty would want to be told of, wherever the path leads.
 * @typedef {{name: string, label: string, group: string, better: 'low' | 'high', warn?: number, bad?: number}} Known
 */

/** @type {Known[]} */
export const known = [
  ...delay('rtt', 'Round trip', 0.1, 0.2),
  ...delay('owd_forward', 'One-way, forward', 0.05, 0.1),
  ...delay('owd_reverse', 'One-way, reverse', 0.05, 0.1),
  { name: 'ipdv_forward_p95_seconds', label: 'Delay variation, forward', group: 'Variation', better: 'low', warn: 0.005, bad: 0.02 },
  { name: 'ipdv_reverse_p95_seconds', label: 'Delay variation, reverse', group: 'Variation', better: 'low', warn: 0.005, bad: 0.02 },
  { name: 'jitter_seconds', label: 'Jitter', group: 'Variation', better: 'low', warn: 0.005, bad: 0.02 },
  { name: 'loss_ratio', label: 'Loss', group: 'Loss and order', better: 'low', warn: 0.001, bad: 0.01 },
  { name: 'loss_forward_ratio', label: 'Loss, forward', group: 'Loss and order', better: 'low', warn: 0.001, bad: 0.01 },
  { name: 'loss_reverse_ratio', label: 'Loss, reverse', group: 'Loss and order', better: 'low', warn: 0.001, bad: 0.01 },
  { name: 'reordering_ratio', label: 'Reordering', group: 'Loss and order', better: 'low', warn: 0.001, bad: 0.01 },
  { name: 'throughput_bits_per_second', label: 'Throughput', group: 'Transfer', better: 'high', warn: 1e8, bad: 1e7 },
  { name: 'reverse_throughput_bits_per_second', label: 'Throughput, reverse', group: 'Transfer', better: 'high', warn: 1e8, bad: 1e7 },
  { name: 'retransmits_packets', label: 'Retransmissions', group: 'Transfer', better: 'low', warn: 100, bad: 1000 },
  { name: 'capacity_bits_per_second', label: 'Capacity', group: 'Path', better: 'high', warn: 1e8, bad: 1e7 },
  { name: 'available_bits_per_second', label: 'Available bandwidth', group: 'Path', better: 'high', warn: 1e8, bad: 1e7 },
  { name: 'path_mtu_bytes', label: 'Path MTU', group: 'Path', better: 'high', warn: 1499, bad: 1279 },
  { name: 'hop_count', label: 'Hops', group: 'Path', better: 'low', warn: 16, bad: 25 },
];

/**
 * @param {string} name
 * @param {string} label
 * @param {number} warn
 * @param {number} bad
 * @returns {Known[]}
 */
function delay(name, label, warn, bad) {
  return [['median', 'median'], ['min', 'least'], ['p95', '95th percentile'], ['max', 'most']].map(([part, word]) => ({
    name: `${name}_${part}_seconds`, label: `${label} delay, ${word}`, group: 'Delay', better: 'low', warn, bad,
  }));
}

/** What tells sent_packets from sent_bytes: the word for a unit that a name does not imply. @type {Record<string, string>} */
const kinds = { packets: ', packets', bytes: ', bytes', bits_per_second: ' rate', bytes_per_second: ' rate', packets_per_second: ' rate' };

/**
 * How a metric is called.
 * @param {string} name
 */
export function labelOf(name) {
  const k = known.find((m) => m.name === name);
  if (k) return k.label;
  const unit = unitOf(name);
  const words = name.slice(0, unit ? -unit.length - 1 : undefined).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1) + (kinds[unit] ?? '');
}

/** @param {string} name */
export const betterOf = (name) => known.find((m) => m.name === name)?.better ?? (/bits_per_second$/.test(name) ? 'high' : 'low');

/** Units that labelOf does not name. @type {Record<string, string>} */
const units = { seconds: 'seconds', ratio: 'ratio', bits_per_second: 'bit/s', bytes_per_second: 'bytes/s', packets_per_second: 'packets/s' };

/**
 * Metrics in the groups that people choose from: those that are known in their order, then the others, by name and unit.
 * @param {string[]} names each once or more
 * @returns {{group: string, metrics: {name: string, label: string}[]}[]}
 */
export function grouped(names) {
  const there = new Set(names);
  const groups = [...new Set(known.map((m) => m.group))].map((group) => ({ group, metrics: known.filter((m) => m.group === group && there.has(m.name)) }));
  const others = [...there].filter((n) => !known.some((m) => m.name === n)).sort();
  const metrics = others.map((name) => ({ name, label: [labelOf(name), units[unitOf(name)]].filter(Boolean).join(', ') }));
  return [...groups, { group: 'Other', metrics }].filter((g) => g.metrics.length);
}
