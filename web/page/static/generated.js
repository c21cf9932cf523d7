// The mark of a history that nobody measured: package archive/generated makes one for demonstrations. It stands on every page.
import { html } from './html.js';
import { when } from './times.js';

/** @param {{account: import('./account.js').Account}} props */
export function Generated({ account: { me } }) {
  const until = me?.generated_until;
  return until ? html`<p class="note" id="generated">History before ${when(until)} is generated: nobody measured it.</p>` : null;
}
