// Times: how a URL names them, how people read them, and which steps suit a span. All are milliseconds since 1970.
import { zone } from './settings.js';

const lengths = { s: 1e3, m: 60e3, min: 60e3, h: 3600e3, d: 86400e3, w: 7 * 86400e3, mo: 30 * 86400e3, y: 365 * 86400e3 };

/**
 * A length such as 1h, 7d or 500ms; null if it is none.
 * @param {string | null} text
 */
export function parseLength(text) {
  const m = /^(\d+(?:\.\d+)?)(ms|s|min|mo|m|h|d|w|y)$/.exec(text ?? '');
  if (!m) return null;
  return Number(m[1]) * (m[2] === 'ms' ? 1 : lengths[/** @type {keyof typeof lengths} */ (m[2])]);
}

/**
 * A time of a URL: RFC 3339, or how long ago (-1d). null if it is none.
 * @param {string | null} text
 * @param {number} now
 */
export function parseTime(text, now) {
  if (!text) return null;
  if (text.startsWith('-')) {
    const ago = parseLength(text.slice(1));
    return ago === null ? null : now - ago;
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** @param {number} ms */
export const rfc = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z');

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {number} ms */
export function parts(ms) {
  const timeZone = zone() === 'utc' ? 'UTC' : undefined;
  const key = timeZone ?? 'local';
  let f = formats.get(key);
  if (!f) {
    f = new Intl.DateTimeFormat('en-GB', {
      timeZone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
      weekday: 'short', hourCycle: 'h23',
    });
    formats.set(key, f);
  }
  /** @type {Record<string, string>} */
  const p = {};
  for (const { type, value } of f.formatToParts(ms)) p[type] = value;
  return p;
}

/**
 * A time: 2026-11-22 03:14, with seconds or their parts where they matter.
 * @param {number | string} at
 * @param {'minute' | 'second' | 'ms' | 'day'} [to]
 */
export function when(at, to = 'minute') {
  const ms = typeof at === 'string' ? Date.parse(at) : at;
  if (Number.isNaN(ms)) return 'no time';
  const p = parts(ms);
  const day = `${p.year}-${p.month}-${p.day}`;
  if (to === 'day') return day;
  const s = to === 'minute' ? '' : ':' + p.second + (to === 'ms' ? '.' + String(Math.floor(ms % 1000)).padStart(3, '0') : '');
  return `${day} ${p.hour}:${p.minute}${s}`;
}

/** The name of the time zone that times are shown in. */
export const zoneName = () => (zone() === 'utc' ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone);

/**
 * How long ago, roughly: 40 s, 12 min, 3 h, 5 d.
 * @param {number} ms
 */
export function span(ms) {
  const s = Math.abs(ms) / 1e3;
  if (s < 1) return `${Math.round(s * 1e3)} ms`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 2 * 86400) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}

/** Steps that buckets may have: those of people's clocks, and of the archive's rollups from a minute on. */
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800].map((s) => s * 1e3));

/**
 * The finest step that gives a span no more buckets than a graph has room for.
 * @param {number} ms
 * @param {number} room
 */
export const stepOf = (ms, room) => steps.find((s) => ms / s <= room) ?? 604800e3;

/**
 * Labels of a time axis: the day where it begins, else the time of day, as fine as the distance of ticks.
 * @param {number[]} ticks seconds
 */
export function tickTexts(ticks) {
  const apart = ticks.length > 1 ? ticks[1] - ticks[0] : 60;
  let before = '';
  return ticks.map((t) => {
    const p = parts(t * 1e3);
    const day = `${p.year}-${p.month}-${p.day}`;
    const begins = day !== before;
    before = day;
    if (apart >= 86400) return apart >= 27 * 86400 ? `${p.year}-${p.month}` : `${p.month}-${p.day}`;
    const fine = apart < 1 ? '.' + String(Math.round((t % 1) * 1000)).padStart(3, '0') : '';
    const clock = `${p.hour}:${p.minute}${apart < 60 ? ':' + p.second + fine : ''}`;
    return begins ? `${clock}\n${day}` : clock;
  });
}
