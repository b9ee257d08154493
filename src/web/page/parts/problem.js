// problem.js - what is wrong, below the field it is about: a shape and words.
import { html } from '../html.js';
import { Icon } from '../icons.js';

export const Problem = ({ text, id }) => html`<div class="field-error" id=${id} role=${id ? undefined : 'alert'}><${Icon} name="retrying" /><span>${text}</span></div>`;
