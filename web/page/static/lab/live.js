// A test across the lab while one watches, so that a change of a link can be seen.
import { html, useEffect, useRef, useState } from '../html.js';
import { ApiError, ask, url, why } from '../api.js';
import { format, plural } from '../format.js';
import { Drawing } from '../result/samples.js';
import { ratesOf, splitter } from '../test/run.js';

/** @typedef {{kind: string, from: string, to: string, seconds: number}} Wanted */
/** @typedef {{asked: Wanted, going: boolean, echoes: Echo[], intervals: Interval[], result: ResultDoc | null, error: string}} Seen */

/** @param {{lab: LabDoc}} props */
export function LabTest({ lab }) {
  const hosts = lab.nodes.filter((n) => n.kind === 'host').map((n) => n.name);
  const [seen, see] = useState(/** @type {Seen | null} */ (null));
  const [wanted, want] = useState({ kind: 'ping', from: hosts[0], to: hosts.at(-1) ?? '', seconds: 20 });
  const stopper = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => stopper.current?.abort(), []); // the controller ends what nobody watches
  if (hosts.length < 2) return null;
  /** @param {SubmitEvent} e */
  const start = (e) => {
    e.preventDefault();
    stopper.current = new AbortController();
    follow(lab.name, wanted, stopper.current.signal, see);
  };
  /** @param {keyof Wanted} name */
  const field = (name) => ({ name, value: wanted[name], onChange: (/** @type {any} */ e) => want((w) => ({ ...w, [name]: name === 'seconds' ? Number(e.target.value) : e.target.value })) });
  const busy = seen?.going ?? false;
  const options = hosts.map((h) => html`<option key=${h}>${h}</option>`);
  return html`<section class="lab-test" aria-labelledby="lab-test"><h2 id="lab-test">Test across it</h2>
    <form class="controls" onSubmit=${start}>
      <label>Test <select ...${field('kind')}><option value="ping">ping</option><option value="throughput">throughput</option></select></label>
      <label>from <select ...${field('from')}>${options}</select></label>
      <label>to <select ...${field('to')}>${options}</select></label>
      <label>for <input type="number" ...${field('seconds')} min="1" max="60" required /> s</label>
      ${busy ? html`<button type="button" key="stop" onClick=${() => stopper.current?.abort()}>Stop</button>` : html`<button key="start">Start</button>`}
    </form>
    ${seen && html`<${Shown} seen=${seen} />`}</section>`;
}

/** @param {{seen: Seen}} props */
function Shown({ seen }) {
  const { asked, echoes, intervals, result } = seen;
  const last = echoes.at(-1);
  const lost = echoes.filter((e) => e.rtt_seconds === null).length;
  const state = seen.going ? 'Running …' : seen.error ? '' : result ? 'Done.' : 'Stopped.';
  return html`<p role="status">${`${asked.kind} from ${asked.from} to ${asked.to}. ${state}`}</p>
    ${seen.error && html`<p class="failure" role="alert">${seen.error}</p>`}
    ${last && html`<${Drawing} form="dots" unit="seconds" until=${asked.seconds} text=${`${plural(echoes.length, 'packet')}, ${lost} lost`} points=${echoes.map((e) => ({ x: e.sent_seconds, y: e.rtt_seconds }))} />
      <p class="now">${plural(echoes.length, 'packet')}, ${lost} lost; last round trip <b data-seconds=${last.rtt_seconds ?? ''}>${last.rtt_seconds === null ? 'lost' : format(last.rtt_seconds, 'seconds')}</b></p>`}
    ${ratesOf(intervals).map(({ direction, points }) => html`<${Drawing} key=${direction} form="bars" unit="bits_per_second" until=${asked.seconds} text=${`Rate, ${direction}`} points=${points} />
      <p class="now">now <b>${format(points.at(-1)?.y, 'bits_per_second')}</b>${result ? `; in all ${format(result.metrics.throughput_bits_per_second, 'bits_per_second')}` : ''}</p>`)}
    ${(result?.notes ?? []).map((n) => html`<p class="note">${n}</p>`)}`;
}

/**
 * Asks for a test and shows each of its lines.
 * @param {string} lab
 * @param {Wanted} asked
 * @param {AbortSignal} signal
 * @param {(s: Seen) => void} see
 */
export async function follow(lab, asked, signal, see) {
  /** @type {Seen} */
  let seen = { asked, going: true, echoes: [], intervals: [], result: null, error: '' };
  /** @param {Partial<Seen>} more */
  const add = (more) => see((seen = { ...seen, ...more }));
  add({});
  try {
    const answer = await ask(url(['labs', lab, 'tests']), { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(asked) });
    if (!answer.ok || !answer.body) throw new ApiError(answer.status, await why(answer));
    const [reader, text, split] = [answer.body.getReader(), new TextDecoder(), splitter()];
    for (;;) {
      const { done, value } = await reader.read();
      for (const line of /** @type {LabLine[]} */ (split(done ? text.decode() + '\n' : text.decode(value, { stream: true })))) {
        if (line.echo) add({ echoes: [...seen.echoes, line.echo] });
        if (line.interval) add({ intervals: [...seen.intervals, line.interval] });
        if (line.result) add({ result: line.result });
        if (line.error) add({ error: line.error });
      }
      if (done) break;
    }
  } catch (e) {
    if (!signal.aborted) add({ error: e instanceof Error ? e.message : String(e) });
  }
  add({ going: false });
}
