// What is wrong, in words. Pure.
import { format, plural } from '../format.js';
import { when } from '../times.js';

/** What a trouble is about, for people. @param {{kind: TroubleDoc['kind'], name: string, shown?: string}} t */
export function nameOf(t) {
  if (t.kind === 'from') return `what ${t.name} sends`;
  if (t.kind === 'to') return `what ${t.name} receives`;
  if (t.kind === 'host' || t.kind === 'pair') return t.name;
  return `${t.kind} ${t.shown || t.name}`;
}

const hosts = ['host', 'from', 'to'];

/** The first line: how many of what are wrong, and how. @param {SummaryDoc} doc */
export function headline(doc) {
  const all = doc.troubles;
  if (!all.length) return doc.looked ? 'All is as usual' : doc.unknown ? 'It is too early to say what is usual' : 'Nothing was measured lately';
  /** @type {[string, string][]} */
  const kinds = [['host', 'host'], ['link', 'link'], ['router', 'router'], ['site', 'site'], ['pair', 'path']];
  const counts = kinds.map(([kind, word]) => {
    const of = all.filter((t) => (kind === 'host' ? hosts.includes(t.kind) : t.kind === kind));
    const n = kind === 'host' ? new Set(of.map((t) => t.name)).size : of.length;
    return n ? plural(n, word) : '';
  }).filter(Boolean);
  const one = counts.length === 1 && counts[0].startsWith('1 ');
  const what = all.every((t) => t.signs.some((s) => s.aspect !== 'loss')) ? (one ? 'is slow' : 'are slow')
    : all.every((t) => t.signs[0].aspect === 'loss') ? (one ? 'loses packets' : 'lose packets') : one ? 'is worse than usual' : 'are worse than usual';
  return `${counts.length > 1 ? counts.slice(0, -1).join(', ') + ' and ' + counts.at(-1) : counts[0]} ${what}`;
}

/** A time of today as its hour, and of another day with that day. @param {string} at @param {number} now */
export function moment(at, now) {
  const [there, here] = [when(at), when(now)];
  return there.slice(0, 10) === here.slice(0, 10) ? there.slice(11) : there.slice(5);
}

/** Since when. @param {SignDoc} s @param {number} now */
const since = (s, now) => (s.longer ? `since before ${moment(s.since, now)}` : `since ${moment(s.since, now)}`);

/**
 * In which respect something is worse, since when, and from what to what.
 * @param {SignDoc} s
 * @param {number} now
 */
export function signWords(s, now) {
  const [is, was] = [s.now, s.usual].map((v) => (s.aspect === 'loss' ? rough(v) : format(v, unit(s))));
  if (s.aspect === 'loss') return s.longer ? `${is} of packets lost, ${since(s, now)}` : `packets lost ${since(s, now)}: ${is}, before ${was}`;
  if (s.aspect === 'delay') return `round trips longer ${since(s, now)}: ${is}, before ${was}`;
  if (s.declared) return `transfers get ${is} of the ${was} that the mesh file declares, ${s.longer ? 'as long as is known' : `and never got more since ${moment(s.since, now)}`}`;
  return `transfers slow ${since(s, now)}: ${is}, before ${was}`;
}

/** @param {SignDoc} s */
const unit = (s) => ({ loss: 'ratio', delay: 'seconds', throughput: 'bits_per_second' })[s.aspect];

/** A loss of many pairs together, of which nobody counted packets: two digits. @param {number} ratio */
const rough = (ratio) => format(Number(ratio.toPrecision(2)), 'ratio');

/**
 * What a trouble began with, as changes: each sign of which is known when it began.
 * @param {TroubleDoc} t
 * @param {number} now
 * @returns {{at: string, text: string, metric: string}[]}
 */
export const beginnings = (t, now) => t.signs.filter((s) => !s.longer).map((s) => ({ at: s.since, metric: s.metric, text: `${nameOf(t)}: ${signWords(s, now)}` }));

/** How many of all paths show it. @param {SignDoc} s */
export const paths = (s) => (s.all > 1 ? `${s.ill} of ${plural(s.all, 'path')}` : '');

/** What the summary rests on. @param {SummaryDoc} doc */
export function basis(doc) {
  if (!doc.looked && doc.unknown) {
    const since = doc.newest ? `, the newest at ${moment(doc.newest, Date.parse(doc.at))}` : '';
    return `${plural(doc.runs, 'run')} of ${plural(doc.unknown, 'path')} so far${since}. What a path is usually like is known after four hours; until then choose a metric below to see what was measured.`;
  }
  const parts = [`${plural(doc.looked, 'path')} between ${plural(doc.hosts.length, 'host')} compared with their own past`, plural(doc.runs, 'run')];
  if (doc.newest) parts.push(`the newest at ${moment(doc.newest, Date.parse(doc.at))}`);
  const more = doc.unknown ? ` Of ${plural(doc.unknown, 'more path', 'more paths')} too little is known to say so.` : '';
  return parts.join(', ') + '.' + more;
}

/** That as many diagnoses were made on their own as may be; '': there may be more. @param {SummaryDoc} doc */
export function spentWords({ at, unasked }) {
  if (!unasked.next) return '';
  const made = unasked.made === 1 ? 'The controller made 1 diagnosis by itself' : `The controller made ${unasked.made} diagnoses by itself`;
  return `${made} in the last hour, as many as the mesh file lets there be; the next may begin at ${moment(unasked.next, Date.parse(at))}.`;
}

/** What is said of one cell of the matrix of health. @param {SignDoc[] | undefined} signs @param {number} kind @param {number} now */
export function cellWords(signs, kind, now) {
  if (signs?.length) return signs.map((s) => signWords(s, now)).join('; ');
  return kind === 0 ? 'too little was measured to say what is usual' : 'as usual';
}
