// The overview: all pairs at a glance, at any time, and what to look at first.
import { html, useEffect, useMemo, useRef } from '../html.js';
import { url } from '../api.js';
import { useDoc } from '../docs.js';
import { useEvents } from '../events.js';
import { labelOf } from '../metrics.js';
import { inText, plural, unitOf } from '../format.js';
import { change } from '../router.js';
import { rfc } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { choiceOf, Controls, health, Timeline } from './controls.js';
import { limitsOf, words } from './judge.js';
import { empty, healthOf, modelOf } from './model.js';
import { Matrix } from './matrix.js';
import { PairTable } from './table.js';
import { News, Worst } from './lists.js';
import { Summary } from './summary.js';
import { headline } from './words.js';

const settle = 2000; // ms after a Result, in which more of them come
const rest = 16000; // ms between two questions for all pairs: the server's answers are up to 15 s old

/** @param {{route: import('../router.js').Route, account: import('../account.js').Account, wall?: boolean}} props wall: there is nobody to press anything */
export function Overview({ route, account, wall }) {
  const choice = choiceOf(route.query);
  const all = choice.metric === health;
  const { doc, error, busy, reload } = useDoc(all ? url(['summary']) : url(['matrix'], {
    metric: choice.metric, at: choice.at === null ? '' : rfc(choice.at), span: choice.span,
    baseline: choice.past ? '7d' : '', test: choice.test, tool: choice.tool,
  }));
  // What there is to choose from comes after what was chosen.
  const there = useDoc(doc || error ? url(['measured'], { role: 'planned' }) : null).doc;
  useRenewal(choice.at === null ? choice.metric : null, reload);
  const model = useMemo(
    () => doc && (doc.troubles ? healthOf(doc) : modelOf(doc, { warn: choice.warn, bad: choice.bad, byPast: choice.past })),
    [doc, choice.warn, choice.bad, choice.past],
  );
  const query = all ? {} : { metric: choice.metric, ...(choice.tool && { tool: choice.tool }), ...(choice.test && { test: choice.test }) };
  const limits = model?.metric === choice.metric ? model.limits : limitsOf(choice, undefined, [], 'low');
  return html`
    <h1 tabindex="-1">${!all ? labelOf(choice.metric) : doc?.troubles ? headline(doc) : 'Overview'}</h1>
    ${all && doc?.troubles && html`<${Summary} doc=${doc} account=${account} />`}
    ${!wall && html`<${Controls} choice=${choice} limits=${limits} better=${model?.better ?? ''} measured=${there?.measured ?? []} />`}
    ${!all && !wall && html`<${Timeline} choice=${choice} shown=${model} />`}
    ${error && html`<${Failure} error=${error} what="The matrix" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="all pairs" />`}
    ${model && html`<div class=${'overview' + (busy ? ' busy' : '')} aria-busy=${String(busy)}>
      <div>
        ${model.n < 2
          ? html`<${Empty} title="There are no pairs yet.">
              <p>Name two hosts or more in the mesh file and a test between them; <code>pathwise mesh check</code> says whether it is right.</p><//>`
          : html`${empty(model) && !all && html`<${Empty} title=${`No pair has a value of ${inText(labelOf(choice.metric))} in this time.`}>
                <p>Choose another metric or a longer time, or step back in time. Which tests the mesh runs is in its file: a metric needs
                a tool that measures it.</p><//>`}
              <${Legend} model=${model} past=${choice.past} />
              ${choice.table
                ? html`<${PairTable} model=${model} query=${query} />`
                : html`<${Matrix} model=${model} size=${choice.size} query=${query} resize=${(/** @type {number} */ s) => change({ size: s }, { replace: true })} />`}`}
      </div>
      <aside aria-label="What to look at">
        ${model.n >= 2 && !model.why && html`<${Worst} model=${model} query=${query} may=${Boolean(account.me?.scopes?.includes('run'))} at=${choice.at === null ? '' : rfc(choice.at)} />`}
        <${News} troubles=${doc?.troubles ?? []} />
      </aside>
    </div>`}`;
}

/**
 * Asks again after Results of a metric came: soon after the first of them, and once more when no answer is left from before
 * the last; not more often than the server gives new ones. And now and then where none come, since what is shown grows old.
 * @param {string | null} metric null: what is shown is past
 * @param {() => void} reload
 */
function useRenewal(metric, reload) {
  const state = useRef({ timer: 0 });
  useEvents((kind, e) => {
    const s = state.current;
    const concerns = kind === 'missed' || (kind === 'result' && metric !== null && e.result && (metric === health || metric in e.result.metrics));
    if (!concerns || metric === null || s.timer) return;
    s.timer = setTimeout(() => {
      s.timer = setTimeout(() => {
        s.timer = 0;
        reload();
      }, rest);
      reload();
    }, settle);
  });
  useEffect(() => {
    const timer = setInterval(() => metric === null || document.hidden || reload(), 60e3);
    return () => clearInterval(timer);
  }, [metric]);
  useEffect(() => () => clearTimeout(state.current.timer), []);
}

/** @param {{model: import('./model.js').Model, past: boolean}} props past: it was asked to judge by that */
function Legend({ model: m, past }) {
  const kinds = m.byPast ? [2, 1, 3, 4, 0] : [2, 3, 4, 0];
  return html`<ul class="legend">
    ${kinds.map((k) => html`<li><span class=${'mark k' + k} aria-hidden="true">${words[k].mark || '\u00a0'}</span>
      ${plural(m.tally[k], m.byPast ? words[k].past : words[k].limit, m.byPast ? words[k].past : words[k].limit)}</li>`)}
    ${!m.byPast && unitOf(m.metric) && html`<li class="quiet">numbers, where cells have room, in ${m.scale[1] || m.unit}</li>`}
    ${m.why && m.tally[4] > 0 && html`<li class="quiet">a host whose row and column are bad is bad itself; others are not for its sake</li>`}
    ${past && !m.byPast && html`<li class="quiet">judged by limits: a longer time has more of this, so there is no past to compare with</li>`}
  </ul>`;
}
