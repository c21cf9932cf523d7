// What a host is worth telling of, in words and in order. Pure.
import { format } from '../format.js';
import { span } from '../times.js';
import { healthBrief } from '../overview/health.js';

const tooFar = 1; // second that a host's clock may be off the controller's, beyond what a message takes on a bad line
const fine = 0.1; // second: within what a message takes; nothing is told of less

/** A host in a word, with its mark. @param {HostDoc} h @param {number} now @returns {{text: string, mark: string, kind: string, rank: number}} */
export function stateOf(h, now) {
  if (h.state === 'away') return { text: h.heard ? `silent for ${span(now - Date.parse(h.heard))}` : 'never heard of', mark: '×', kind: 'k4', rank: 0 };
  if (h.state === 'offline') return { text: 'offline by the mesh file', mark: '–', kind: 'k0', rank: 3 };
  if (h.state === 'foreign') return { text: 'answers only', mark: '·', kind: 'k0', rank: 4 };
  const troubles = troublesOf(h);
  if (troubles.length) return { text: `reports, but ${troubles.join('; ')}`, mark: '•', kind: 'k3', rank: 1 };
  return { text: 'reports', mark: '✓', kind: 'k2', rank: 5 };
}

/** Whether a host cannot do something by mishap, and not because its owner or its network is so. @param {MissingCapability} l */
const mishap = (l) => ['raw-sockets', 'timestamps', 'disk', 'room'].includes(l.what) || l.what.startsWith('opening');

/** What a host that reports has to be looked at for. @param {HostDoc} h @returns {string[]} */
export function troublesOf(h) {
  if (!h.status || h.state !== 'here') return [];
  const out = [];
  if (Math.abs(h.clock_behind_seconds ?? 0) > tooFar) out.push(`its clock is off by ${format(Math.abs(h.clock_behind_seconds ?? 0), 'seconds')}`);
  if (h.out_of_date) out.push('its agent is out of date');
  for (const l of (h.status.lacks ?? []).filter(mishap)) out.push(`there is trouble with ${l.what}`);
  return out;
}

/** A clock in words. @param {HostDoc} h */
export function clockOf(h) {
  if (!h.status) return '';
  const off = h.clock_behind_seconds ?? 0;
  const sync = h.status.clock.synchronized ? `synchronised, to ${format(h.status.clock.error_seconds, 'seconds')}` : 'not synchronised';
  return Math.abs(off) > fine ? `${sync}; ${format(Math.abs(off), 'seconds')} ${off > 0 ? 'behind' : 'ahead'}` : sync;
}

/** What it cannot do, in a line. @param {HostDoc} h */
export const lacksOf = (h) => (h.status?.lacks ?? []).map((l) => l.what).join(', ');

/** A host, and how its paths are, where that is known. @typedef {HostDoc & {health?: import('../overview/health.js').Health | null}} Shown */
/** more: on its own page alone, where there is little room. @typedef {{id: string, name: string, num?: boolean, more?: boolean, of: (h: Shown, now: number) => string | number, text: (h: Shown, now: number) => string}} Column */
/** Of the table: of is what it is sorted by. @type {Column[]} */
export const columns = [
  { id: 'name', name: 'Host', of: (h) => h.name, text: (h) => h.name },
  { id: 'site', name: 'Site', of: (h) => h.site ?? '', text: (h) => h.site ?? '' },
  { id: 'paths', name: 'Its paths', of: (h) => -badness(h), text: (h) => healthBrief(h.health ?? null) },
  { id: 'state', name: 'State', of: (h, now) => (stateOf(h, now).rank > 1 && h.health?.own.length ? 2 : stateOf(h, now).rank), text: (h, now) => stateOf(h, now).text },
  { id: 'heard', name: 'Last heard', num: true, more: true, of: (h) => (h.heard ? -Date.parse(h.heard) : Infinity), text: (h, now) => (h.heard ? `${span(now - Date.parse(h.heard))} ago` : '') },
  { id: 'version', name: 'Version', more: true, of: (h) => h.status?.version ?? '', text: (h) => h.status?.version ?? '' },
  { id: 'reach', name: 'Reached by', more: true, of: (h) => h.reach, text: (h) => h.reach },
  { id: 'clock', name: 'Clock', of: (h) => (h.status ? (h.status.clock.synchronized ? 0 : 1e9) + Math.abs(h.clock_behind_seconds ?? 0) : -1), text: clockOf },
  { id: 'running', name: 'Runs now', num: true, more: true, of: (h) => h.status?.running?.length ?? -1, text: (h) => (h.status ? String(h.status.running?.length ?? 0) : '') },
  { id: 'spooled', name: 'Not yet filed', num: true, more: true, of: (h) => h.status?.spooled ?? -1, text: (h) => (h.status ? String(h.status.spooled) : '') },
  { id: 'lacks', name: 'Cannot do', more: true, of: (h) => -(h.status?.lacks?.length ?? 0), text: lacksOf },
];

/** How many paths are worse, those of a host that is ill itself before all others. @param {Shown} h */
const badness = (h) => (h.health?.ill ?? 0) + (h.health?.own.length ? 1e6 : 0);

/**
 * Hosts in the order of a column; those that are equal by name.
 * @param {Shown[]} hosts
 * @param {string} by its id; a minus before it: the other way round
 * @param {number} now
 */
export function sorted(hosts, by, now) {
  const column = columns.find((c) => c.id === by.replace(/^-/, '')) ?? columns[0];
  const way = by.startsWith('-') ? -1 : 1;
  return [...hosts].sort((a, b) => {
    const [x, y] = [column.of(a, now), column.of(b, now)];
    const order = typeof x === 'string' ? x.localeCompare(String(y)) : x === y ? 0 : x - Number(y);
    return way * order || a.name.localeCompare(b.name);
  });
}

/** @template {HostDoc} T @param {T[]} hosts @param {string} text of a name, a site, an address or a state */
export function found(hosts, text, now = Date.now()) {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
  return hosts.filter((h) => parts.every((p) => [h.name, h.site ?? '', h.address, stateOf(h, now).text, lacksOf(h)].some((t) => t.toLowerCase().includes(p))));
}
