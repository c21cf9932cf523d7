// What changed between two hosts, since when, and what changed with it: sentences above the graphs, and marks for the time line. The
// texts are the API's.
import { html, useMemo } from '../html.js';
import { url } from '../api.js';
import { useDocs } from '../docs.js';
import { rfc } from '../times.js';

/** @typedef {[string, string]} Pair */
/** @typedef {import('./happened.js').Change} Change */

const every = 300e3; // ms: what began since the last one waits for the next, so that who looks on does not have the past read each minute
const mostTold = 3; // sentences, before one asks for more

/**
 * The events of a span, what holds on first; none of a host by itself.
 * @param {Pair} pair
 * @param {import('./range.js').Range} range
 * @param {number | null} turn null: something else is wanted first
 * @returns {HistoryEvent[]}
 */
export function useHistory(pair, range, turn) {
  const to = Math.ceil(range.to / every) * every;
  const from = Math.floor(range.from / every) * every;
  const path = pair[0] === pair[1] ? null : url(['pairs', ...pair, 'history'], { from: rfc(from), to: rfc(to) });
  const { doc } = useDocs([path], turn === null ? null : 0); // where it is not known, the graphs still say what was
  const history = /** @type {HistoryDoc | null | undefined} */ (doc?.[0]?.history);
  return useMemo(() => (history?.events ?? []).filter((e) => e.sentence), [history]);
}

/**
 * Changes of the time line with those of a history. Another route has its own mark there.
 * @param {Change[] | null} changes
 * @param {HistoryEvent[]} events
 * @returns {Change[] | null}
 */
export const withSteps = (changes, events) => changes && [...changes, ...events.filter((e) => e.changed.length && !e.route).map((e) => ({
  at: e.until, t: Date.parse(e.until), kind: /** @type {const} */ ('step'), severity: e.severity, text: e.sentence, way: /** @type {const} */ (0),
}))].sort((a, b) => a.t - b.t);

/** @param {{events: HistoryEvent[]}} props */
export const Since = ({ events }) => (events.length > 0 ? html`<section class="since" aria-label="What changed">
  ${events.slice(0, mostTold).map((e) => html`<p class=${{ info: 'quiet', warning: 'is-partial', problem: 'is-failed' }[e.severity]}>${e.sentence}</p>`)}
  ${events.length > mostTold && html`<details><summary>${events.length - mostTold} more</summary>${events.slice(mostTold).map((e) => html`<p>${e.sentence}</p>`)}</details>`}
</section>` : null);
