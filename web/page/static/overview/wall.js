// A view for a screen on a wall: what is wrong, then one metric after another, without anything to press. Space holds it, Escape leaves.
import { html, useEffect, useState } from '../html.js';
import { url } from '../api.js';
import { useDoc } from '../docs.js';
import { go, link } from '../router.js';
import { Overview } from './page.js';

const stays = 20; // seconds, unless the address says every=SECONDS: long enough to read what is wrong from afar
const metrics = ['rtt_median_seconds', 'loss_ratio', 'throughput_bits_per_second'];

/** @param {{route: import('../router.js').Route, account: import('../account.js').Account}} props */
export function Wall({ route, account }) {
  const there = useDoc(url(['measured'], { role: 'planned' })).doc;
  const views = ['', ...metrics.filter((m) => there?.measured.some((/** @type {Measured} */ o) => o.metric === m))];
  const every = Math.max(1, Number(route.query.get('every')) || stays) * 1e3;
  const [turn, set] = useState(0);
  const [held, hold] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => held || set((n) => n + 1), every);
    /** @param {KeyboardEvent} e */
    const press = (e) => {
      if (e.key === 'Escape') go(link([]));
      else if (e.key === ' ') hold(!held);
      else return;
      e.preventDefault();
    };
    addEventListener('keydown', press);
    return () => {
      clearInterval(timer);
      removeEventListener('keydown', press);
    };
  }, [held, every]);
  const metric = views[turn % views.length];
  return html`<div class="wall" data-view=${metric || 'health'}>
    <${Overview} key=${metric} route=${{ ...route, query: new URLSearchParams(metric ? { metric } : {}) }} account=${account} wall />
    <p class="quiet">${held ? 'Held. Space goes on' : `${(turn % views.length) + 1} of ${views.length}. Space holds it`}, Escape leaves.</p></div>`;
}
