
import { html } from './html.js';
export const Server = () => html`<p>server</p>`;
