// router.js - which page is shown: the fragment of the address holds it with its filters, order and the project.
import { signal } from '@preact/signals';

const PAGES = ['overview', 'server', 'calls', 'waiting', 'agents'];

function decode(text)
{
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

function parse(hash)
{
	const [path, search] = hash.replace(/^#\/?/, '').split('?');
	const [page, ...rest] = path.split('/');

	return {
		page: PAGES.includes(page) ? page : 'overview',
		name: decode(rest.join('/')),
		query: Object.fromEntries(new URLSearchParams(search ?? '')),
	};
}

export const route = signal(parse(location.hash));

// href(): the address of a page; the project stays.
export function href(page, name, query = {})
{
	const { project } = route.peek().query;
	const search = new URLSearchParams(Object.entries({ ...query, ...(project ? { project } : {}) })
		.filter(([, value]) => value !== undefined && value !== null && value !== '')).toString();

	return `#/${page === 'overview' ? '' : page}${name ? `/${encodeURIComponent(name)}` : ''}${search ? `?${search}` : ''}`;
}

export function go(page, name, query)
{
	location.hash = href(page, name, query);
}

// setQuery(): filters and order of the page that is shown; an empty value goes.
export function setQuery(changes)
{
	const { page, name, query } = route.peek();

	history.replaceState(history.state, '', href(page, name, { ...query, ...changes }));
	route.value = parse(location.hash);
}

addEventListener('hashchange', () => {
	const before = route.peek();

	route.value = parse(location.hash);
	if (before.page !== route.peek().page || before.name !== route.peek().name)
		scrollTo(0, 0);
});
