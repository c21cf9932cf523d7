import { html, render } from './html.js';
import { Shell } from './shell.js';

render(html`<${Shell} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
