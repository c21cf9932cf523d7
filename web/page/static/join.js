// How a further host joins a mesh that nobody wrote a file of: one line, to be pasted there.
import { html, useState } from './html.js';
import { useDoc } from './docs.js';
import { send } from './api.js';
import { when, zoneName } from './times.js';
import { plural } from './format.js';

/** @param {{account: import('./account.js').Account}} props */
export function Join({ account }) {
  return account.me?.scopes?.includes('admin') ? html`<${Invite} />` : null;
}

function Invite() {
  const { doc } = useDoc('api/v1/joining');
  const [made, show] = useState(/** @type {InvitationDoc | null} */ (null));
  const [trouble, tell] = useState('');
  const how = /** @type {JoiningDoc | null} */ (doc);
  if (!how?.enabled) return null;
  const invite = async () => {
    tell('');
    try {
      show(await send('POST', 'api/v1/joining', {}));
    } catch (e) {
      tell(e instanceof Error ? e.message : String(e));
    }
  };
  return html`<section class="join" aria-labelledby="join"><h2 id="join">Add a host</h2>
    <p>This mesh has ${plural(how.hosts, 'host')}. One more joins when a line is pasted there, where <code>pathwise</code> is installed; both are then measured to each other each minute.</p>
    ${how.alone && html`<p class="note">Only programs on the controller's own machine reach it now, at ${how.at}. For hosts elsewhere end <code>pathwise serve</code> and start it as
      ${' '}<code>pathwise serve --reach ${how.suggested}</code>, with the address by which they reach this machine.</p>`}
    ${made
      ? html`<div class="note" role="status"><p><strong>Paste this on the other host</strong> until ${when(made.expires)} ${zoneName()}; it works once:</p><pre tabindex="0">${made.command}</pre>
          <ul><li>That host gets a name and keys of its own, does the tests of this mesh, and sends their results here. It sees no pages, starts no other tests and changes nothing.</li>
            <li>This controller may have it make any kind of measurement, and run no programs, unless its owner's policy says otherwise.</li>
            <li>Who has the line first joins by it: send it as you would a password. A restart of the controller makes it void.</li></ul></div>
          <p><button type="button" onClick=${invite}>Another invitation</button></p>`
      : html`<p><button type="button" onClick=${invite}>Invite a host</button></p>`}
    ${trouble && html`<p class="failure" role="alert">${trouble}</p>`}
  </section>`;
}
