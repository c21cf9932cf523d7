// What changed between two hosts, since when, and what changed with it: sentences above the graphs, and marks for the time line. The
// texts are the API's.
import { html, useMemo } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { format, plural, share, unitOf } from '../format.js';
import { definitionOf } from '../metrics.js';
import { rfc } from '../times.js';
import { Found } from '../overview/summary.js';
import { nameOf, signWords } from '../overview/words.js';
import { seriesUrl } from './graphs.js';

/** @typedef {[string, string]} Pair */
/** @typedef {import('./happened.js').Change} Change */

const every = 300e3; // ms: what began since the last one waits for the next, so that who looks on does not have the past read each minute

/**
 * The events of a span, what holds on first, and what is so without having begun: that packets go a detour. Nothing of a host by itself.
 * @param {Pair} pair
 * @param {import('./range.js').Range} range
 * @param {number | null} turn null: something else is wanted first
 * @returns {{events: HistoryEvent[] | null, detour: Finding | null}} events: null: they are not known yet
 */
export function useHistory(pair, range, turn) {
  const to = Math.ceil(range.to / every) * every;
  const from = Math.floor(range.from / every) * every;
  const path = pair[0] === pair[1] ? null : url(['pairs', ...pair, 'history'], { from: rfc(from), to: rfc(to) });
  const { doc, error } = useDocs([path], turn === null ? null : 0); // where it is not known, the graphs still say what was
  const past = /** @type {DiagnosisDoc | null | undefined} */ (doc?.[0]);
  return useMemo(() => ({
    events: doc || error ? (past?.history?.events ?? []).filter((e) => e.sentence) : null,
    detour: past?.findings?.find((f) => f.id === 'detour') ?? null,
  }), [doc, error]);
}

/**
 * In which respects a pair is worse now, as the first page has it: it looks at all pairs together, and so knows of one what its own past does
 * not show yet. None where the span ends before now.
 * @param {Pair} pair
 * @param {import('./range.js').Range} range
 * @param {number | null} turn null: something else is wanted first
 * @returns {{signs: SignDoc[], trouble: TroubleDoc | null} | null} trouble: what the pair is ill of; null: it is not known yet
 */
export function useWorse(pair, range, turn) {
  const wanted = range.live && pair[0] !== pair[1];
  const { doc, error } = useDocs([wanted ? 'api/v1/summary' : null], turn === null ? null : 0);
  return useMemo(() => (doc || error ? worseOf(doc?.[0], pair) : null), [doc, error, ...pair]);
}

const hour = 3600e3; // ms: to which it is known of a pair when something began; of all pairs that show it together, more exactly

/** @param {SummaryDoc | null | undefined} summary @param {Pair} pair @returns {{signs: SignDoc[], trouble: TroubleDoc | null}} */
function worseOf(summary, pair) {
  const own = summary?.pairs.find((p) => p.source === pair[0] && p.target === pair[1] && p.trouble !== null);
  const trouble = summary?.troubles[own?.trouble ?? -1] ?? null;
  const signs = (own?.signs ?? []).map((s) => {
    const all = trouble?.signs.find((t) => t.aspect === s.aspect);
    const later = all ? Date.parse(all.since) - Date.parse(s.since) : 0;
    return all && later > 0 && later < hour ? { ...s, since: all.since } : s;
  });
  return { signs, trouble };
}

/** Aspects of signs by the metrics of events. @type {[Aspect, RegExp][]} */
const aspects = [['loss', /loss/], ['throughput', /throughput/], ['delay', /rtt/]];

const same = 2 * 3600e3; // ms between what a sign and an event say of when it began, for them to be one: signs are of whole hours

/**
 * The signs that no event of the history that goes on tells.
 * @param {SignDoc[]} signs
 * @param {HistoryEvent[]} events
 */
export const untold = (signs, events) => signs.filter((s) => !events.some((e) => !e.ended && (s.longer || Math.abs(Date.parse(e.until) - Date.parse(s.since)) < same) && e.changed.some((c) => aspects.some(([a, of]) => a === s.aspect && of.test(c.metric)))));

/** Changes of the time line with those of a history, and with what began lately. Another route has its own mark there.
 * @param {Change[] | null} changes
 * @param {HistoryEvent[] | null} events
 * @param {SignDoc[]} signs
 * @param {number} from where the span begins
 * @returns {Change[] | null}
 */
export const withSteps = (changes, events, signs, from) => changes && [...changes, ...(events ?? []).filter((e) => e.changed.length && !e.route).map((e) => ({
  at: e.until, t: Date.parse(e.until), kind: /** @type {const} */ ('step'), severity: e.severity, text: e.sentence, way: /** @type {const} */ (0),
})), ...untold(signs, events ?? []).filter((s) => !s.longer && Date.parse(s.since) >= from).map((s) => ({
  at: s.since, t: Date.parse(s.since), kind: /** @type {const} */ ('step'), severity: /** @type {const} */ ('warning'), text: signWords(s, Date.now()), way: /** @type {const} */ (0),
}))].sort((a, b) => a.t - b.t);

/** Why a pair is worse, as far as a diagnosis of what it is ill of says. @param {{trouble: TroubleDoc | null}} props */
const Why = ({ trouble: t }) => t && (t.diagnosis || t.kind !== 'pair') && html`<p>${t.kind !== 'pair' && html`It is one of the paths of <b>${nameOf(t)}</b> that are worse. `}${
  t.diagnosis && html`<${Found} of=${t.diagnosis} now=${Date.now()} trouble=${t} />`}</p>`;

/** What is worse now, in words. @param {{pair: Pair, signs: SignDoc[]}} props */
const Worse = ({ pair: [a, b], signs }) => html`<p class="is-failed">${a} → ${b}: ${signs.map((s) => signWords(s, Date.now())).join('; ')}.</p>`;

const tones = { info: '', warning: 'is-partial', problem: 'is-failed' };

/**
 * One sentence, which has its place before it is known, so that the graphs do not move under the mouse: what changed last, or else what is;
 * the other changes when one asks. What is worse now comes before all, where no change tells of it; a detour, which few pairs have, behind.
 * @param {{pair: Pair, events: HistoryEvent[] | null, detour: Finding | null, now: ReturnType<typeof useWorse>, children?: any}} props children: what is, without its end
 */
export function Since({ pair, events, detour, now, children }) {
  const signs = now?.signs ?? null;
  const worse = untold(signs ?? [], events ?? []);
  const all = events ?? [];
  const [first, ...others] = worse.length ? [null, ...all] : all;
  const told = (/** @type {HistoryEvent} */ e) => html`<p class=${tones[e.severity]}>${e.sentence}</p>`;
  return html`<section class="since" aria-label="What changed" aria-busy=${!events || !signs}>
    ${worse.length ? html`<${Worse} pair=${pair} signs=${worse} />` : first ? told(first) : html`<p>${events && signs ? html`${children} Nothing is known to have begun or ended in this span.` : html`<span class="quiet">…</span>`}</p>`}
    ${now?.signs.length ? html`<${Why} trouble=${now.trouble} />` : null}
    ${detour && html`<p class=${tones[detour.severity]}>${detour.explanation}</p>`}
    ${others.length > 0 && html`<details><summary>${plural(others.length, 'more change')}</summary>${others.map((e) => e && told(e))}</details>`}
  </section>`;
}

/**
 * What a span comes to, of the metric that the page is about and of its loss.
 * @param {{row: import('./rows.js').Row, pair: Pair, of: {tool: string, test: string}, range: import('./range.js').Range, turn: number | null}} props
 */
export function State({ row, pair, of, range, turn }) {
  const [metric, loss] = [row.metrics[0], row.draw === 'smoke' ? row.metrics[4] : ''];
  const ask = (/** @type {string} */ m) => seriesUrl(pair, m, of, { ...range, step: 0 }, [0.5], { weights: Boolean(definitionOf(m)?.of) });
  const { doc } = useDocs([ask(metric), loss ? ask(loss) : null], turn);
  const [now, lost] = /** @type {(SeriesDoc | null)[]} */ (doc ?? []).map((d) => d?.buckets[0]);
  if (!now) return null;
  const value = definitionOf(metric)?.of ? share(now.value, now.weight) : format(now.value, unitOf(metric));
  return html`<b>${row.title} ${value}${lost && `, loss ${share(lost.value, lost.weight)}`}.</b>`;
}
