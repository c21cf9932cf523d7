// The labs of the controller's machine: a drawing of one that is up, its links to be changed, a test across it.
import { html, useEffect, useRef, useState } from '../html.js';
import { ApiError, get, send, url } from '../api.js';
import { useDoc } from '../docs.js';
import { plural } from '../format.js';
import { change, link } from '../router.js';
import { when } from '../times.js';
import { Empty, Failure, Loading } from '../state.js';
import { Counters } from './counters.js';
import { Drawing } from './drawing.js';
import { LinkForm } from './form.js';
import { kinds, nameOf, passing } from './judge.js';
import { Fix } from './fix.js';
import { LabTest } from './live.js';

/** @param {{route: import('../router.js').Route, account: import('../account.js').Account}} props */
export function Lab({ route, account }) {
  const { doc, error, reload } = useDoc('api/v1/labs');
  const name = route.path[1] ?? (doc?.labs.length === 1 ? doc.labs[0] : '');
  const may = account.me?.scopes?.includes('admin') ?? false;
  if (error) return html`<h1 tabindex="-1">Lab</h1><${Failure} error=${error} what="The labs" retry=${reload} />`;
  if (!doc) return html`<h1 tabindex="-1">Lab</h1><${Loading} of="labs" />`;
  if (name) return html`<${One} key=${name} name=${name} labs=${doc.labs} faults=${doc.faults} may=${may} route=${route} />`;
  return html`<h1 tabindex="-1">Lab</h1>
    ${!doc.enabled && html`<${Empty} title="This controller shows no labs."><p>With <code>labs: true</code> under <code>controller</code> in the mesh file it shows those that its user has up on its machine.</p><//>`}
    ${doc.enabled && doc.labs.length === 0 && html`<${Empty} title="No lab is up."><p>Start one on the controller's machine, as the user that the controller runs as: <code>pathwise lab up FILE</code>.
      <code>pathwise lab topologies</code> lists some that are ready.</p><p><button type="button" onClick=${reload}>Look again</button></p><//>`}
    ${doc.labs.length > 1 && html`<ul class="rows">${doc.labs.map((/** @type {string} */ l) => html`<li key=${l}><a href=${link(['lab', l])}>${l}</a></li>`)}</ul>`}`;
}

/**
 * The newest document of a lab and the one before, asked for each second while the page can be seen.
 * @param {string} name
 */
function useLab(name) {
  const [state, set] = useState({ lab: /** @type {LabDoc | null} */ (null), before: /** @type {LabDoc | null} */ (null), error: /** @type {ApiError | null} */ (null) });
  const show = useRef((/** @type {LabDoc} */ lab) => set((s) => {
    const old = s.lab?.began === lab.began ? s.lab : null; // else it is a later lab of that name
    if (old && lab.seconds <= old.seconds && lab.changes[0]?.id === old.changes[0]?.id) return { ...s, error: null };
    const since = old && lab.seconds - old.seconds < 0.3 ? s.before : old; // too short a time for a rate
    return { lab, before: since && since.seconds < lab.seconds ? since : null, error: null };
  }));
  useEffect(() => {
    let timer = 0;
    const stop = new AbortController();
    const look = async () => {
      try {
        if (!document.hidden) show.current(await get(url(['labs', name]), stop.signal));
      } catch (e) {
        if (!stop.signal.aborted) set((s) => ({ ...s, error: e instanceof ApiError ? e : new ApiError(0, String(e)) }));
      }
      if (!stop.signal.aborted) timer = setTimeout(look, 1000);
    };
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [name]);
  return { ...state, show: show.current };
}

/** @param {{name: string, labs: string[], faults: LabFault[], may: boolean, route: import('../router.js').Route}} props */
function One({ name, labs, faults, may, route }) {
  const { lab, before, error, show } = useLab(name);
  const [failed, setFailed] = useState('');
  const chosen = Number(route.query.get('link') ?? 0);
  const way = /** @type {import('./form.js').Direction} */ (['forward', 'reverse'].find((d) => d === route.query.get('way')) ?? 'both');
  const at = lab?.links[chosen];
  /** @param {string[]} path @param {unknown} doc */
  const act = async (path, doc) => {
    try {
      show(await send('POST', url(['labs', name, ...path]), doc));
      return '';
    } catch (e) {
      return e instanceof Error ? e.message : String(e);
    }
  };
  /** @param {unknown} wish */
  const undo = async (wish) => setFailed(await act(['undo'], wish));
  /** @param {number} n */
  const bits = (n) => lab && before ? passing(lab.links[n].forward, before.links[n]?.forward, lab.seconds - before.seconds).bits + passing(lab.links[n].reverse, before.links[n]?.reverse, lab.seconds - before.seconds).bits : 0;
  const choose = (/** @type {number} */ n) => change({ link: n || null }, { replace: true });
  return html`<h1 tabindex="-1">Lab ${name}</h1>
    ${labs.length > 1 && html`<p><a href=${link(['lab'])}>All ${labs.length} labs</a></p>`}
    ${error && html`<${Failure} error=${error} what=${`Lab ${name}`} />${error.status === 404 && html`<p><a href=${link(['lab'])}>The labs that are up</a></p>`}`}
    ${!lab && !error && html`<${Loading} of="the lab" />`}
    ${lab && html`
      ${lab.emulator && html`<p class="failure" role="note"><strong>This machine cannot keep up:</strong> ${lab.emulator}. What is measured now says more of it than of the lab.</p>`}
      <p class="legend">${kinds.map((k) => html`<span key=${k.name}><span class=${'sign ' + k.name}>${k.mark || '—'}</span> ${k.text}</span>`)}<span class="quiet">Lines grow with what passes.</span></p>
      <div class="lab">
        <div><${Drawing} lab=${lab} chosen=${chosen} choose=${choose} bits=${bits} />
          ${may && html`<${Changes} lab=${lab} undo=${undo} failed=${failed} /><${LabTest} lab=${lab} />`}</div>
        ${at && may && html`<${LinkForm} link=${at} direction=${way} faults=${faults} setDirection=${(/** @type {string} */ d) => change({ way: d === 'both' ? null : d }, { replace: true })}
          apply=${(/** @type {any} */ wish) => act(['links', String(chosen)], { direction: way, ...wish })}
          changed=${lab.changes.filter((c) => c.link === chosen).length} back=${() => undo({ link: chosen, all: true })}><${Fix} key=${`fix-${chosen}`} lab=${lab} link=${at} act=${act} /><//>`}
        ${at && !may && html`<section aria-labelledby="link-name"><h2 id="link-name">Link ${nameOf(at)}</h2>${/** @type {const} */ (['forward', 'reverse']).map((d) =>
          html`<h3>${(d === 'forward' ? at.between : [...at.between].reverse()).join(' → ')}</h3><dl>${Object.entries(at[d].settings).map(([k, v]) => html`<dt>${k}</dt><dd>${v}</dd>`)}</dl>`)}
          <p class="quiet">Links are changed, and tests started, by accounts with the role admin.</p></section>`}
      </div>
      <${Counters} lab=${lab} before=${before} chosen=${chosen} choose=${choose} />`}`;
}

/** @param {{lab: LabDoc, undo: (wish: object) => void, failed: string}} props */
function Changes({ lab, undo, failed }) {
  const [last] = lab.changes;
  /** @param {LabChange} c */
  const told = (c) => `${c.what} on ${nameOf(lab.links[c.link])}${c.direction === 'both' || !c.direction ? '' : `, ${c.direction}`}${c.for_seconds ? `, for ${c.for_seconds} s` : ''}`;
  return html`<section aria-labelledby="undo"><h2 id="undo" class="hidden">Changes</h2>
    <p><button type="button" disabled=${!last} onClick=${() => undo({})}>Undo${last ? `: ${told(last)}` : ''}</button>
      ${lab.changes.length > 1 && html` <button type="button" onClick=${() => undo({ all: true })}>Undo all ${lab.changes.length}</button>`}</p>
    ${failed && html`<p class="is-failed" role="alert">${failed}</p>`}
    ${last && html`<details><summary>${plural(lab.changes.length, 'change')} made here</summary><ul class="rows news">${lab.changes.map((c) =>
      html`<li key=${c.id}><time>${when(c.at, 'second')}</time><span>${told(c)} <small>${c.by}</small></span></li>`)}</ul></details>`}</section>`;
}
