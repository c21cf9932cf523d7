// How metrics are called and chosen: those of the table, and those that only programs of the site report.
import { unitOf } from './format.js';
import { table } from './metric-table.js';

/** @type {Map<string, typeof table[number]>} */
const known = new Map(table.map((m) => [m.name, m]));

/** What the table says of a metric. @param {string} name */
export const definitionOf = (name) => known.get(name);

const places = new Map(table.map((m, i) => [m.name, i]));

/** @param {string} name */
const placeOf = (name) => places.get(name) ?? table.length;

/** Sorts metrics as the table has them, and behind those it knows the others by name. @param {string} a @param {string} b */
export const inOrder = (a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b);

/** What tells sent_packets from sent_bytes: the word for a unit that a name does not imply. @type {Record<string, string>} */
const kinds = { packets: ', packets', bytes: ', bytes', bits_per_second: ' rate', bytes_per_second: ' rate', packets_per_second: ' rate' };

/**
 * How a metric is called.
 * @param {string} name
 */
export function labelOf(name) {
  const k = known.get(name);
  if (k) return k.label;
  const unit = unitOf(name);
  const words = name.slice(0, unit ? -unit.length - 1 : undefined).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1) + (kinds[unit] ?? '');
}

/** Units that labelOf does not name. @type {Record<string, string>} */
const units = { seconds: 'seconds', ratio: 'ratio', bits_per_second: 'bit/s', bytes_per_second: 'bytes/s', packets_per_second: 'packets/s' };

/**
 * Metrics in the groups that people choose from: those that are known in their order, then the others, by name and unit.
 * @param {string[]} names each once or more
 * @returns {{group: string, metrics: {name: string, label: string}[]}[]}
 */
export function grouped(names) {
  const there = new Set(names);
  const groups = [...new Set(table.map((m) => m.group))].map((group) => ({ group, metrics: table.filter((m) => m.group === group && there.has(m.name)) }));
  const others = [...there].filter((n) => !known.has(n)).sort();
  const metrics = others.map((name) => ({ name, label: [labelOf(name), units[unitOf(name)]].filter(Boolean).join(', ') }));
  return [...groups, { group: 'Other', metrics }].filter((g) => g.metrics.length);
}
