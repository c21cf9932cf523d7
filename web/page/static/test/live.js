// The test or diagnosis under way: what it waits for, what it shows, what came of it.
import { html, useEffect, useRef, useState } from '../html.js';
import { format, plural } from '../format.js';
import { here, link } from '../router.js';
import { span, when } from '../times.js';
import { Diagnosis, Numbers } from '../result/diagnosis.js';
import { Rounds } from '../result/rounds.js';
import { hasRoute, RouteOf } from '../result/route.js';
import { Drawing, Echoes, Intervals } from '../result/samples.js';
import { useTitles } from '../result/titles.js';
import { meanOf, sofar } from './run.js';
import { stop, useWork } from './work.js';

/** @typedef {import('./run.js').Run} Run */
/** @typedef {import('./run.js').Work} Work */

export function Live() {
  const work = useWork();
  const title = useRef(/** @type {HTMLElement | null} */ (null));
  if (!work) return null;
  const { ask } = work;
  const halt = () => {
    title.current?.focus(); // the button goes
    stop();
  };
  return html`<section class="live-run" aria-labelledby="work">
    <h2 id="work" tabindex="-1" ref=${title}>${ask.what === 'test' ? ask.tool : 'Diagnosis'}: ${ask.source}${ask.target !== ask.source ? ` → ${ask.target}` : ''}
      ${work.state === 'going' && html` <button type="button" onClick=${halt}>Stop</button>`}</h2>
    <p role="status"><${State} work=${work} /></p>
    ${work.state === 'failed' && work.error && html`<${Trouble} work=${work} />`}
    ${ask.what === 'test' ? html`<${TestRun} work=${work} />` : html`<${Steps} work=${work} />`}
  </section>`;
}

/** How it stands, in a few words: they are read out. @param {{work: Work}} props */
function State({ work }) {
  const { run, ask } = work;
  const title = useTitles();
  if (work.state === 'stopped') return 'Stopped: the test was called back. What was measured until then may still be filed.';
  if (work.state === 'failed') return ask.what === 'test' ? 'The test failed.' : 'The diagnosis could not be made.';
  if (work.diagnosis) return html`Done.<span class="hidden"> ${title(work.diagnosis.verdict)}.</span>`; // which stands below
  if (work.state === 'done') return run.result?.status === 'partial' ? 'It ended early; this is what was measured.' : 'Done.';
  if (ask.what === 'test') return runWords(run);
  const at = work.steps.findIndex((s) => s.state === 'running' || s.state === 'waiting');
  return at < 0 ? (work.steps.length ? 'Under way.' : 'Asking for a plan …') : `Step ${at + 1} of ${work.steps.length}: ${work.steps[at].step}.`;
}

/** @param {Run} r */
function runWords(r) {
  if (r.state === 'asked') return 'Asking for its turn …';
  if (r.state === 'waiting') return r.begins - Date.now() > 1500 ? `Waiting for its turn: it begins at ${when(r.begins, 'second')}.` : 'Beginning …';
  return 'Running …';
}

/** What to do about what went wrong. @param {{work: Work}} props */
function Trouble({ work: { ask, error, status } }) {
  const todo = advice(error, status);
  return html`<div class="failure" role="alert"><p><strong>${error}</strong></p><p>${todo}
    ${status === 401 ? html` <a href=${link(['sign-in'], { then: here().href })}>Sign in</a>`
      : html` <a href=${link(['hosts', ask.source])}>${ask.source}</a>${ask.target !== ask.source && html` and <a href=${link(['hosts', ask.target])}>${ask.target}</a>`} say how they are.`}</p></div>`;
}

/** @param {string} error @param {number} status @returns {string} */
export function advice(error, status) {
  if (status === 401) return 'Your session has ended.';
  if (status === 403) return 'The mesh file limits who may test what (controller.callers): its administrator can give your account a class that may.';
  if (status === 429) return 'Your share is used up for now: try again when your other tests are over, or tomorrow where it is the day’s bytes.';
  if (status === 422) return 'Change what it names, and try again.';
  if (/not free|patience/.test(error)) return 'Let it wait longer for its turn, or choose a lighter tool.';
  if (/refused/.test(error)) return 'The owner of that host does not allow it: choose another host or tool, or ask them.';
  if (/away|no answer|no result/i.test(error)) return 'A host cannot be reached now. Is its agent running?';
  if (status === 503) return 'The controller is only starting, or what this needs is in use. Wait a moment and try again.';
  if (status === 0 && /broke off|does not answer/.test(error)) return 'If the test had begun, its result is filed all the same and stands on the pair’s page. Try again.';
  return 'Try again; if it stays so, the controller’s log says more.';
}

/** A test: what it shows while it runs, then its Result. @param {{work: Work}} props */
function TestRun({ work: { run, ask, state } }) {
  const r = run.result;
  if (!r) return html`<${Shown} run=${run} going=${state === 'going'} />`;
  return html`
    <p><a class="button" href=${link(['result', r.id])}>The whole result</a>${ask.source !== ask.target && html` <a href=${link(['pair', ask.source, ask.target], { from: '-1h' })}>This pair</a>`}</p>
    <${Numbers} result=${r} />
    ${(r.notes ?? []).map((n) => html`<p class="note">${n}</p>`)}
    ${r.samples?.echoes?.length && html`<${Echoes} echoes=${r.samples.echoes} />`}
    ${r.samples?.intervals?.length && html`<${Intervals} intervals=${r.samples.intervals} />`}
    ${hasRoute(r) && html`<${RouteOf} result=${r} />`}`;
}

/** What a run shows on its way. @param {{run: Run, going: boolean}} props */
function Shown({ run, going }) {
  const { echoes, lost, median, rates } = sofar(run);
  return html`
    ${going && (run.state === 'running' || run.state === 'waiting') && html`<${Pace} run=${run} />`}
    ${echoes > 0 && html`<${Drawing} form="dots" unit="seconds" until=${run.seconds} text=${`${plural(echoes, 'packet')}, ${lost} lost`}
        points=${run.echoes.map((e) => ({ x: e.sent_seconds, y: e.rtt_seconds }))} />
      <p>${plural(echoes, 'packet')}, ${lost} lost${median !== null && html`, median round trip <b>${format(median, 'seconds')}</b>`}</p>`}
    ${rates.map(({ direction, points }) => html`<${Drawing} key=${direction} form="bars" unit="bits_per_second" until=${run.seconds} text=${`Rate, ${direction}`} points=${points} />
      <p>${direction}: now <b>${format(points.at(-1)?.y, 'bits_per_second')}</b>, mean ${format(meanOf(points), 'bits_per_second')}</p>`)}
    ${run.rounds && html`<${Rounds} rounds=${run.rounds} hops=${[]} names=${new Map()} known=${new Map()} words=${null} going />`}
    ${run.lines.length > 0 && html`<pre tabindex="0" aria-label="What it prints">${run.lines.join('\n')}</pre>`}`;
}

/** How far a run is, by the clock. @param {{run: Run}} props */
function Pace({ run }) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const ahead = run.begins - now;
  if (run.begins && ahead > 1000) return html`<p class="quiet">begins in ${span(ahead)}</p>`;
  const been = run.begins ? Math.max(0, -ahead / 1e3) : 0;
  return html`<p><progress max=${run.seconds || 1} value=${run.seconds && run.begins ? Math.min(been, run.seconds) : undefined} aria-label="How far it is"></progress>
    ${run.begins > 0 && html` <span class="quiet">${span(been * 1e3)}${run.seconds ? ` of about ${span(run.seconds * 1e3)}` : ''}</span>`}</p>`;
}

const marks = /** @type {const} */ ({ asked: ['·', 'k0', 'to come'], waiting: ['…', 'k0', 'waiting'], running: ['▸', 'k1', 'running'],
  done: ['✓', 'k2', 'done'], failed: ['×', 'k4', 'failed'], stopped: ['–', 'k0', 'stopped'] });

/** The steps of a diagnosis, then what they come to. @param {{work: Work}} props */
function Steps({ work }) {
  const d = work.diagnosis;
  const whole = work.steps.reduce((s, x) => s + x.seconds, 0);
  const list = html`<ol class="steps">${work.steps.map((s) => html`<li key=${s.step} class=${s.state}>
    <p><span class=${'mark ' + marks[s.state][1]} aria-hidden="true">${marks[s.state][0]}</span> <b>${s.step}</b> <span class="quiet">${marks[s.state][2]}, ${s.why}${s.seconds ? `; about ${span(s.seconds * 1e3)}` : ''}</span>
      ${s.state === 'waiting' && s.begins - Date.now() > 1500 && html` <span>its turn is at ${when(s.begins, 'second')}</span>`}
      ${s.id && (s.state === 'done' || s.result) && html` <a href=${link(['result', s.id])}>Result<span class="hidden"> of ${s.step}</span></a>`}</p>
    ${s.error && html`<p class="is-failed">${s.error}</p>`}
    ${(s.state === 'running' || s.state === 'waiting') && html`<${Shown} run=${s} going=${true} />`}</li>`)}</ol>`;
  if (!d) {
    return html`${work.state === 'going' && whole > 0 && html`<p class="quiet">About ${span(whole * 1e3)} in all, and what it has to wait for its turn.</p>`}${list}`;
  }
  return html`<${Diagnosis} verdict=${d.verdict} findings=${d.findings ?? []} achieved=${d.achieved_bits_per_second} expected=${d.expected_bits_per_second ?? 0}
      results=${d.results ?? []} notes=${d.notes} parts=${d.segments ?? null} />
    ${work.id && html`<p><a class="button" href=${link(['result', work.id])}>This diagnosis as a result, to keep or pass on</a></p>`}
    <details><summary>How it was measured</summary>${list}</details>`;
}
