// A test of a multicast group: what each member knew of it last, as a matrix of all of them.
import { html } from '../html.js';
import { endsOf, exactly, url } from '../api.js';
import { useDoc } from '../docs.js';
import { change, link } from '../router.js';
import { when } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { Members } from './members.js';

const newest = 100; // Results that are looked at for the last of each member

/** The newest Result of each member, newest first. Pure. @param {ResultDoc[]} results newest first */
export const lastOfEach = (results) => results.filter((r, i) => results.findIndex((o) => o.source.name === r.source.name) === i);

/** @param {{route: import('../router.js').Route}} props */
export function Group({ route }) {
  const test = route.path[1];
  const { doc, error, reload } = useDoc(url(['results'], { kind: 'beacon', test: exactly(test), limit: newest }));
  const last = lastOfEach(/** @type {ResultDoc[]} */ (doc?.results ?? []));
  const shown = last.find((r) => r.source.name === route.query.get('by')) ?? last[0];
  const { doc: whole, error: unread, reload: again } = useDoc(shown ? url(['results', shown.id]) : null);
  const r = /** @type {ResultDoc | null} */ (whole);
  return html`<h1 tabindex="-1">${test}, a multicast group</h1>
    ${error && html`<${Failure} error=${error} what="What the group measured" retry=${reload} />`}
    ${unread && html`<${Failure} error=${unread} what="What this member told" retry=${again} />`}
    ${!doc && !error && html`<${Loading} of="the group" />`}
    ${doc && !shown && html`<${Empty} title=${`No member of ${test} has measured yet.`}><p>A test of the tool <code>beacon</code> over a group that is a list measures it; <code>pathwise mesh plan --list</code> says
      when it runs. <a href=${link(['hosts'])}>All hosts</a></p><//>`}
    ${shown && html`<div class="controls"><label>As told by <select value=${shown.source.name} onChange=${(/** @type {any} */ e) => change({ by: e.target.value })}>
        ${last.map((o) => html`<option>${o.source.name}</option>`)}</select></label>
      <span class="quiet">${when(shown.started, 'second')}</span> <a href=${link(['result', shown.id])}>the whole result</a>
      ${' '}<a href=${link(['pair', shown.source.name, endsOf(shown)[1]])}>over time</a></div>`}
    ${r && html`${r.error && html`<p class="failure" role="note">${r.error}</p>`}${(r.notes ?? []).map((n) => html`<p class="note">${n}</p>`)}
      <${Members} members=${r.samples?.members ?? []} pairs=${r.samples?.pairs ?? []} />`}`;
}

/** The multicast groups that the mesh measures, for the page of hosts. */
export function Groups() {
  const { doc } = useDoc(url(['results'], { kind: 'beacon', role: 'planned', limit: newest })); // without it the rest is shown
  const tests = [...new Set(/** @type {ResultDoc[]} */ (doc?.results ?? []).map((r) => r.test ?? ''))].filter(Boolean).sort();
  return tests.length === 0 ? null : html`<section aria-labelledby="groups"><h2 id="groups">Multicast groups</h2>
    <ul class="partners">${tests.map((t) => html`<li key=${t}><a href=${link(['group', t])}>${t}</a></li>`)}</ul></section>`;
}
