// Test now: two hosts, a tool, one button; or another button that asks why the path between them is slow.
import { html } from '../html.js';
import { useDoc } from '../docs.js';
import { here, link } from '../router.js';
import { Failure, Loading } from '../state.js';
import { Form } from './form.js';
import { Live } from './live.js';

/** @param {{route: import('../router.js').Route, account: import('../account.js').Account}} props */
export function Test({ route, account }) {
  const hosts = useDoc('api/v1/hosts');
  const tools = useDoc('api/v1/tools');
  const failed = hosts.error ?? tools.error;
  const may = account.me?.scopes?.includes('run');
  const ready = account.me && hosts.doc && tools.doc;
  return html`<h1 tabindex="-1">Test between two hosts</h1>
    ${failed && html`<${Failure} error=${failed} what="What there is to test with" retry=${() => { hosts.reload(); tools.reload(); }} />`}
    ${!failed && !ready && html`<${Loading} of="hosts and tools" />`}
    ${ready && !may && html`<${Refusal} name=${account.me?.name ?? ''} />`}
    ${ready && may && html`<${Form} query=${route.query} hosts=${hosts.doc.hosts ?? []} tools=${tools.doc.tools ?? []} />
      <${Live} />`}`;
}

/** Who may not test is told who may. @param {{name: string}} props */
const Refusal = ({ name }) => html`<div class="empty"><p><strong>${name ? `${name} may look, but not start tests.` : 'Sign in to start tests.'}</strong></p>
  <p>A test sends traffic across the mesh, so it is for accounts with the role operator or admin.
    ${name ? ' An administrator can give your account that role.' : ' If you have none, ask an administrator of this mesh for an invitation.'}</p>
  ${!name && html`<p><a class="button" href=${link(['sign-in'], { then: here().href })}>Sign in</a></p>`}</div>`;
