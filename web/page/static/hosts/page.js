// All hosts in a table, and one in depth.
import { html, useEffect, useRef, useState } from '../html.js';
import { useDoc } from '../docs.js';
import { useEvents } from '../events.js';
import { plural } from '../format.js';
import { change, link } from '../router.js';
import { Empty, Failure, Loading } from '../state.js';
import { healthOfHost } from '../overview/health.js';
import { columns, found, sorted, stateOf } from './model.js';
import { Groups } from '../result/group.js';
import { Host } from './host.js';

const settle = 500; // ms after a host came or went, in which others may
const renew = 10e3; // ms: how often an agent reports

/** @param {{route: import('../router.js').Route}} props */
export function Hosts({ route }) {
  const { doc, error, reload } = useDoc('api/v1/hosts');
  useRenewal(reload);
  const name = route.path[1];
  const { doc: summary } = useDoc('api/v1/summary'); // without it all else is shown
  const hosts = /** @type {import('./model.js').Shown[] | undefined} */ (doc?.hosts?.map((/** @type {HostDoc} */ h) => ({ ...h, health: summary && healthOfHost(summary, h.name) })));
  const host = hosts?.find((h) => h.name === name);
  return html`<h1 tabindex="-1">${name ?? 'Hosts'}</h1>
    ${error && html`<${Failure} error=${error} what="The list of hosts" retry=${reload} />`}
    ${!doc && !error && html`<${Loading} of="hosts" />`}
    ${doc && !hosts?.length && html`<${Empty} title="The mesh file names no host."><p>Hosts are named in the mesh file; <code>pathwise mesh deploy</code> puts an agent on each.</p><//>`}
    ${hosts && hosts.length > 0 && (name === undefined
      ? html`<${Table} hosts=${hosts} query=${route.query} /><${Groups} />`
      : host ? html`<${Host} host=${host} route=${route} />`
      : html`<${Empty} title=${`There is no host ${name} in the mesh file.`}><p><a href=${link(['hosts'])}>All hosts</a></p><//>`)}`;
}

/**
 * Asks again soon after something happened to a host, and as often as agents report while the page can be seen: a report that
 * changes nothing but numbers is no event.
 * @param {() => void} reload
 */
function useRenewal(reload) {
  const timer = useRef(0);
  useEvents((kind) => {
    if (timer.current || !['host', 'plan', 'missed'].includes(kind)) return;
    timer.current = setTimeout(() => {
      timer.current = 0;
      reload();
    }, settle);
  });
  useEffect(() => {
    const every = setInterval(() => document.hidden || reload(), renew);
    return () => {
      clearInterval(every);
      clearTimeout(timer.current);
    };
  }, []);
}

/** @param {{hosts: import('./model.js').Shown[], query: URLSearchParams}} props */
function Table({ hosts, query }) {
  const [find, setFind] = useState(query.get('find') ?? '');
  const by = query.get('sort') ?? 'state';
  const now = Date.now();
  const shown = sorted(found(hosts, find, now), by, now);
  const tally = { here: 0, away: 0, foreign: 0, offline: 0 };
  for (const h of hosts) tally[h.state]++;
  const words = [[tally.here, 'report'], [tally.away, 'silent'], [tally.foreign, 'only answer'], [tally.offline, 'offline']].filter(([n]) => n);
  return html`
    <div class="controls"><span>${plural(hosts.length, 'host')}: ${words.map(([n, w]) => `${n} ${w}`).join(', ')}</span>
      <label>Find <input type="search" value=${find} size="16" onInput=${(/** @type {any} */ e) => setFind(e.target.value)}
        onChange=${() => change({ find }, { replace: true })} /></label>
      <span class="hidden" role="status">${find && plural(shown.length, 'host') + ' found'}</span></div>
    ${shown.length === 0 && html`<p class="quiet">No host has ${find} in its name, site, address or state.</p>`}
    ${shown.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Hosts"><table class="list hosts">
      <thead><tr>${columns.map((c) => html`<th key=${c.id} scope="col" class=${[c.num && 'num', c.more && 'more'].filter(Boolean).join(' ') || null}
        aria-sort=${by === c.id ? 'ascending' : by === '-' + c.id ? 'descending' : null}><button type="button" onClick=${() => change({ sort: by === c.id ? '-' + c.id : c.id }, { replace: true })}>${c.name}<span
          aria-hidden="true">${by === c.id ? ' ▲' : by === '-' + c.id ? ' ▼' : ''}</span></button></th>`)}</tr></thead>
      <tbody>${shown.map((h) => html`<tr key=${h.name}>${columns.map((c) => html`<${Cell} key=${c.id} host=${h} column=${c} now=${now} />`)}</tr>`)}</tbody>
    </table></div>`}`;
}

/** @param {{host: import('./model.js').Shown, column: import('./model.js').Column, now: number}} props */
function Cell({ host: h, column: c, now }) {
  if (c.id === 'name') return html`<th scope="row"><a href=${link(['hosts', h.name])}>${h.name}</a></th>`;
  if (c.id === 'paths') return html`<td class=${h.health?.own.length ? 'is-failed' : null}>${c.text(h, now)}</td>`;
  if (c.id === 'state') return html`<td><${State} host=${h} now=${now} /></td>`;
  const odd = c.id === 'clock' && h.status?.clock.synchronized === false;
  return html`<td class=${[c.num && 'num', odd && 'is-partial', c.more && 'more'].filter(Boolean).join(' ') || null} title=${c.id === 'lacks' ? (h.status?.lacks ?? []).map((l) => `${l.what}: ${l.why}`).join('\n') : null}>${c.text(h, now)}</td>`;
}

/** @param {{host: HostDoc, now: number}} props */
export function State({ host, now }) {
  const s = stateOf(host, now);
  return html`<span class=${'mark ' + s.kind} aria-hidden="true">${s.mark}</span>${s.text}`;
}
