// What a check says: errors with their places, or what would come of the change.
import { html } from '../html.js';
import { format, plural } from '../format.js';

/** @type {[keyof ConfigFigures, string, string][]} */
const rows = [
  ['hosts', 'Hosts', 'count'],
  ['tests', 'Tests', 'count'],
  ['pairs', 'Pairs, of all tests', 'count'],
  ['runs_per_day', 'Runs a day', 'count'],
  ['bytes_per_day', 'Sent a day', 'bytes'],
  ['cycle_seconds', 'Tests that run alone: once round all pairs', 'seconds'],
  ['lower_bound_seconds', 'The least that this could take', 'seconds'],
  ['archive_bytes_per_year', 'The archive grows by, a year', 'bytes'],
];

/**
 * By how much a figure changes, in words.
 * @param {number | undefined} was
 * @param {number} is
 * @param {string} unit
 */
export function inWords(was, is, unit) {
  if (was === undefined) return '';
  if (Math.abs(is - was) <= 1e-9 * Math.max(Math.abs(is), Math.abs(was))) return 'as now';
  const by = format(Math.abs(is - was), unit).replaceAll(' ', '\u00a0');
  const times = was > 0 && is > 0 ? is / was : 0;
  const share = times >= 2 ? `, ×${times >= 9.95 ? times.toFixed(0) : times.toFixed(1)}` : '';
  return `${is > was ? 'more' : 'less'} by ${by}${share}`;
}

/** @param {{errors: ConfigProblem[], several: boolean, goto: (e: ConfigProblem) => void}} props */
export function Errors({ errors, several, goto }) {
  return html`<section aria-labelledby="errors"><h2 id="errors">${errors.length > 200 ? 'More than 200 errors' : plural(errors.length, 'error')}</h2>
    <ol class="errors">${errors.map((e) => html`<li>${e.line > 0
      ? html`<button type="button" class="place" onClick=${() => goto(e)}>${several ? e.file + ', ' : ''}line ${e.line}, column ${e.column}</button>`
      : several && e.file} ${e.text}</li>`)}</ol></section>`;
}

/** @param {{outcome: ConfigOutcome}} props */
export function Consequences({ outcome }) {
  const { before, after } = outcome;
  if (!after) return null;
  return html`<section aria-labelledby="consequences"><h2 id="consequences">What it comes to</h2>
    <div class="scroll"><table class="figures">
      <thead><tr><th scope="col">Of the mesh</th><th scope="col" class="num">On disk</th><th scope="col" class="num">In the editor</th><th scope="col">Change</th></tr></thead>
      <tbody>${rows.map(([key, name, unit]) => {
        const words = inWords(before?.[key], after[key], unit);
        return html`<tr class=${words && words !== 'as now' ? 'differs' : ''}><th scope="row">${name}</th><td class="num">${before ? shown(before[key], unit) : 'has errors'}</td>
          <td class="num">${shown(after[key], unit)}</td><td>${words}</td></tr>`;
      })}</tbody></table></div>
    ${(outcome.changes ?? []).map((c) => html`<p>${c[0].toUpperCase() + c.slice(1)}.</p>`)}
    ${(outcome.warnings ?? []).length > 0 && html`<h3>Warnings</h3><ul class="warnings">${(outcome.warnings ?? []).map((w) =>
      html`<li>${w.text}${w.new ? html` <strong>(new)</strong>` : ''}</li>`)}</ul>`}
  </section>`;
}

/** @param {number} v @param {string} unit */
const shown = (v, unit) => (unit === 'seconds' && v === 0 ? 'none' : format(unit === 'count' && v > 10 ? Math.round(v) : v, unit));

const most = 1000; // lines that anybody reads

/** @param {{text: string, label: string}} props */
export function Diff({ text, label }) {
  const lines = text.split('\n');
  return html`<pre class="diff" tabindex="0" role="region" aria-label=${label}>${lines.slice(0, most).map((l) =>
    html`<span class=${/^(\+\+\+|---|@@|new|removed)/.test(l) ? 'where' : l[0] === '+' ? 'added' : l[0] === '-' ? 'gone' : ''}>${l + '\n'}</span>`)}${lines.length > most ? '… and more' : ''}</pre>`;
}
