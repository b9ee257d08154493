// problem.js - what is wrong, below the field it is about: a shape and words, which may name what a schema or a file says.
import { html } from '../html.js';
import { safe } from '../format.js';
import { Icon } from '../icons.js';

export const Problem = ({ text, id }) => html`<div class="field-error" id=${id} role=${id ? undefined : 'alert'}><${Icon} name="retrying" /><span>${safe(text)}</span></div>`;
