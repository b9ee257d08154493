
import { html } from './html.js';
export const Calls = () => html`<p>calls</p>`;
