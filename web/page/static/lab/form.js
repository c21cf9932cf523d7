// What a link does, to be changed: a slider and a text for each setting, both ways or one. Applied on release.
import { html, useEffect, useRef, useState } from '../html.js';
import { offAt, placeOf, scales, shown, steps, textAt } from './scales.js';
import { nameOf } from './judge.js';

/** @typedef {'both' | 'forward' | 'reverse'} Direction */
/** @typedef {(change: {settings?: string[], fault?: string, for_seconds?: number}) => Promise<string>} Apply an error, '' if there is none */

/**
 * @param {{link: LabLink, direction: Direction, setDirection: (d: Direction) => void, apply: Apply, faults: LabFault[], back: () => void, changed: number, children: any}} props
 * changed: how many changes of this link can be taken back; children: what else is done with it
 */
export function LinkForm({ link, direction, setDirection, apply, faults, back, changed, children }) {
  const [a, b] = link.between;
  /** @type {[Direction, string][]} */
  const ways = [['both', 'Both ways'], ['forward', `${a} → ${b}`], ['reverse', `${b} → ${a}`]];
  return html`<section class="lab-form" aria-labelledby="link-name">
    <h2 id="link-name">Link ${nameOf(link)}</h2>
    ${children}
    <p class="choice" role="group" aria-label="Which way">${ways.map(([d, text]) =>
      html`<button type="button" aria-pressed=${d === direction} onClick=${() => setDirection(d)}>${text}</button>`)}
      <button type="button" disabled=${changed === 0} onClick=${back}>As it was</button></p>
    <div class="settings">${scales.map((s) => html`<${Row} key=${`${link.number} ${direction} ${s.key}`} scale=${s} link=${link} direction=${direction} apply=${apply} />`)}</div>
    <${Cut} key=${`cut ${link.number}`} link=${link} direction=${direction} apply=${apply} />
    <${Faults} key=${`faults ${link.number}`} faults=${faults} apply=${apply} />
    <${Other} link=${link} apply=${apply} />
  </section>`;
}

/** The ways that are meant. @param {LabLink} link @param {Direction} direction */
const waysOf = (link, direction) => (direction === 'both' ? [link.forward, link.reverse] : [link[direction]]);

/** @param {{scale: import('./scales.js').Scale, link: LabLink, direction: Direction, apply: Apply}} props */
function Row({ scale, link, direction, apply }) {
  const ways = waysOf(link, direction);
  const differ = new Set(ways.map((w) => w.settings[scale.key])).size > 1;
  const text = differ ? '' : ways[0].settings[scale.key] ?? '';
  const [typed, setTyped] = useState(/** @type {string | null} */ (null)); // while it is being changed
  const [error, setError] = useState('');
  const id = 'set-' + scale.key;
  const hand = useRef({ held: false, sending: false, next: /** @type {string | null} */ (null) });
  const place = useRef(-1); // of the slider until what it set is there
  /** Sets a value; of those that come while one is on its way only the last. @param {string} value */
  const set = async (value) => {
    const h = hand.current;
    h.held = false;
    h.next = value;
    setTyped(value);
    if (h.sending) return;
    for (h.sending = true; h.next !== null;) {
      const text = h.next;
      h.next = null;
      setError(await apply({ settings: [`${scale.key}=${text.trim()}`] }));
    }
    h.sending = false;
    if (h.held) return;
    place.current = -1;
    setTyped(null);
  };
  /** @param {any} e */
  const slide = (e) => {
    place.current = Number(e.target.value);
    setTyped(textAt(scale, place.current));
    return textAt(scale, place.current);
  };
  const at = place.current >= 0 && typed !== null ? place.current : placeOf(scale, ways[0].settings[scale.key] === undefined ? undefined : ways[0].values[scale.key]);
  const reads = typed !== null ? typed || scale.none : differ ? 'differs' : shown(ways[0], scale.key, scale.unit) || scale.none;
  return html`<div class="setting">
    <label for=${id}>${scale.label}</label>
    <input type="range" min=${offAt(scale) ? 1 : 0} max=${offAt(scale) || steps} value=${at} aria-label=${`${scale.label}, ${scale.about}`} aria-valuetext=${reads} title=${scale.about}
      data-key=${scale.key}
      onInput=${(/** @type {any} */ e) => { hand.current.held = true; slide(e); }} onChange=${(/** @type {any} */ e) => set(slide(e))} />
    <input id=${id} value=${typed ?? text} placeholder=${differ ? 'differs' : scale.none} autocomplete="off" spellcheck=${false} aria-invalid=${error !== ''}
      aria-describedby=${error ? id + '-error' : null} onChange=${(/** @type {any} */ e) => { place.current = -1; set(e.target.value); }} />
    ${error && html`<p class="is-failed" id=${id + '-error'} role="alert">${error}</p>`}
  </div>`;
}

/** Disconnects: for good, for a time, or again and again. @param {{link: LabLink, direction: Direction, apply: Apply}} props */
function Cut({ link, direction, apply }) {
  const [seconds, setSeconds] = useState('5');
  const [error, setError] = useState('');
  const ways = waysOf(link, direction);
  const down = ways.some((w) => w.values.down);
  const fails = ways.some((w) => w.settings.outage !== undefined);
  /** @param {Parameters<Apply>[0]} change */
  const act = async (change) => setError(await apply(change));
  return html`<div class="acts" role="group" aria-label="Disconnects">
    <button type="button" onClick=${() => act({ settings: [down ? 'down=' : 'down=true'] })}>${down ? 'Bring up' : 'Cut'}</button>
    <span><button type="button" disabled=${down || !(Number(seconds) > 0)} onClick=${() => act({ settings: ['down=true'], for_seconds: Number(seconds) })}>Cut for</button>
      <input type="number" min="0.1" max="3600" step="any" value=${seconds} aria-label="Seconds to cut the link for" onInput=${(/** @type {any} */ e) => setSeconds(e.target.value)} /> s</span>
    <button type="button" aria-pressed=${fails} onClick=${() => act({ settings: [fails ? 'outage=' : 'outage={mttf: 20s, mttr: 2s}'] })}>Fails now and then</button>
    ${error && html`<p class="is-failed" role="alert">${error}</p>`}
  </div>`;
}

/** @param {{faults: LabFault[], apply: Apply}} props */
function Faults({ faults, apply }) {
  const [name, setName] = useState('');
  const [error, setError] = useState('');
  const fault = faults.find((f) => f.name === name) ?? faults[0];
  if (!fault) return null;
  return html`<div class="acts"><label>Fault <select value=${fault.name} onChange=${(/** @type {any} */ e) => { setName(e.target.value); setError(''); }}>
      ${faults.map((f) => html`<option key=${f.name} value=${f.name}>${f.title}</option>`)}</select></label>
    <button type="button" onClick=${async () => setError(await apply({ fault: fault.name }))}>Apply</button>
    <p class="quiet">${fault.text} <code>${fault.settings.join(' ')}</code>${fault.for_seconds ? ` for ${fault.for_seconds} s` : ''}${fault.whole ? ', both ways' : ''}</p>
    ${error && html`<p class="is-failed" role="alert">${error}</p>`}
  </div>`;
}

/** Whatever else a lab file can say of a link. @param {{link: LabLink, apply: Apply}} props */
function Other({ link, apply }) {
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => setError(''), [link.number]);
  /** @param {SubmitEvent} e */
  const send = async (e) => {
    e.preventDefault();
    const failed = await apply({ settings: [text.trim()] });
    setError(failed);
    if (failed) field.current?.focus();
    else setText('');
  };
  return html`<form class="acts" onSubmit=${send}>
    <label>Any setting <input ref=${field} value=${text} required placeholder="loss={gilbert: {ratio: 1%, burst: 5}}" autocomplete="off" spellcheck=${false} aria-invalid=${error !== ''}
      onInput=${(/** @type {any} */ e) => setText(e.target.value)} /></label> <button>Set</button>
    ${error && html`<p class="is-failed" role="alert">${error}</p>`}
  </form>`;
}
