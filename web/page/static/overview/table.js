// The same as the matrix, as a table: for those who do not see it, and to find one pair among many.
import { html, useMemo, useState } from '../html.js';
import { format, plural } from '../format.js';
import { link } from '../router.js';
import { words } from './judge.js';
import { Mark } from './lists.js';
import { cellWords } from './words.js';

const page = 200; // rows: more take seconds on a phone

/** @param {{model: import('./model.js').Model, query: Record<string, string>}} props */
export function PairTable({ model: m, query }) {
  const [wanted, setWanted] = useState('');
  const [most, setMost] = useState(page);
  const cells = useMemo(() => {
    const all = [];
    const text = wanted.trim().toLowerCase();
    for (let i = 0; i < m.classes.length; i++) {
      const [a, b] = [m.hosts[Math.floor(i / m.n)], m.hosts[i % m.n]];
      if (a !== b && (!text || `${a.name} ${a.site} → ${b.name} ${b.site}`.toLowerCase().includes(text))) all.push(i);
    }
    const sign = m.better === 'low' ? 1 : -1;
    return all.sort((a, b) => m.classes[b] - m.classes[a] || sign * ((m.values[b] ?? 0) - (m.values[a] ?? 0)) || a - b);
  }, [m, wanted]);
  return html`<div class="table">
    <label>Find a host or site <input type="search" value=${wanted} onInput=${(/** @type {any} */ e) => setWanted(e.target.value)} /></label>
    <p role="status" class="quiet">${plural(cells.length, 'direction')}, worst first</p>
    <div class="scroll" tabindex="0" role="region" aria-label="All pairs"><table>
      <thead><tr><th scope="col">From</th><th scope="col">To</th><th scope="col" class=${m.why ? '' : 'num'}>${m.why ? 'What is wrong' : 'Value'}</th>${m.past && html`<th scope="col" class="num">Usually</th>`}<th scope="col">State</th></tr></thead>
      <tbody>${cells.slice(0, most).map((i) => {
        const [a, b] = [m.hosts[Math.floor(i / m.n)], m.hosts[i % m.n]];
        return html`<tr key=${i}><th scope="row"><a href=${link(['pair', a.name, b.name], query)}>${a.name}</a> <small>${a.site}</small></th>
          <td>${b.name} <small>${b.site}</small></td><td class=${m.why ? '' : 'num'}>${m.why ? cellWords(m.why.get(i), m.classes[i], m.to) : m.values[i] === null ? '' : format(m.values[i], m.unit)}</td>
          ${m.past && html`<td class="num">${m.past.median[i] === null ? '' : format(m.past.median[i], m.unit)}</td>`}
          <td><${Mark} kind=${m.classes[i]} past=${m.byPast} /> ${m.byPast ? words[m.classes[i]].past : words[m.classes[i]].limit}</td></tr>`;
      })}</tbody></table></div>
    ${cells.length > most && html`<button type="button" onClick=${() => setMost(most + page)}>Show ${plural(Math.min(page, cells.length - most), 'more', 'more')}</button>`}
  </div>`;
}
