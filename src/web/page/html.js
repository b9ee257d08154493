// html.js - htm bound to preact: the templates of the page, and a component that skips equal properties.
import { h, Component } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);

const isEqual = (a, b) => a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && typeof a[0] === 'number' && a.every((v, i) => v === b[i]));

function differs(a, b)
{
	for (const key in a)
		if (!isEqual(a[key], b[key]))
			return true;
	for (const key in b)
		if (!(key in a))
			return true;
	return false;
}

// memo(render): a component that is drawn again only if a property or a signal it reads has changed.
export function memo(render)
{
	return class extends Component {
		shouldComponentUpdate(props, state)
		{
			return state !== this.state || differs(props, this.props);
		}

		render(props)
		{
			return render(props);
		}
	};
}
