// picture.js - the sharing picture: who calls what. Lines from sessions to rows of the table, as wide as the calls of the last minute.
import { html, memo } from './html.js';
import { clientName, projectName } from './clients.js';
import { rate, safe } from './format.js';

const MOST_SESSIONS = 12, MOST_BUNDLED = 3;
const NODE_SHARE = 0.86; // of a row that the lines at its end may fill
const WIDTH = 204, BAR = 3, GAP = 4;

// groupSessions(): the nodes of the left side: [{key, title, sub, ids, rate, open?}], busiest first; too many become agents.
export function groupSessions(sessions, isOpen, room)
{
	const all = [...sessions.values()].map((s) => ({
		key: s.id, title: clientName(s.client), sub: projectName(s), ids: [s.id], rate: (s.callsLastMinute ?? 0) / 60, session: s,
	}));
	const byRate = (a, b) => b.rate - a.rate || (a.key < b.key ? -1 : 1);

	if (all.length <= Math.min(MOST_SESSIONS, room))
		return all.sort(byRate);
	const groups = new Map();

	for (const one of all) {
		const group = groups.get(one.title) ?? { key: `agent:${one.title}`, title: one.title, ids: [], rate: 0, members: [] };

		group.ids.push(...one.ids);
		group.rate += one.rate;
		group.members.push(one);
		groups.set(one.title, group);
	}
	return [...groups.values()].sort(byRate).flatMap((g) => {
		if (g.members.length === 1)
			return g.members;
		g.sub = `${g.members.length} sessions`;
		return isOpen.has(g.key) ? [{ ...g, ids: [], rate: 0, isHead: true }, ...g.members.sort(byRate)] : [g];
	});
}

const widthOf = (perSecond) => Math.max(1, 2.8 * Math.sqrt(perSecond));

function collect(nodes, flows, place, serverOf)
{
	const nodeOf = new Map(nodes.flatMap((n) => n.ids.map((id) => [id, n])));
	const lines = new Map();

	for (const f of flows) {
		const node = nodeOf.get(f.session), server = serverOf(f.server);

		if (!node || !server)
			continue;
		const end = place(f.server);
		const isUp = server.state === 'connected';
		const waits = !isUp && f.waiting > 0;
		const perSecond = (f.callsLastMinute ?? 0) / 60;

		if (!waits && perSecond <= 0)
			continue;
		const target = end.bundle ?? f.server;
		const key = `${node.key}|${target}${waits ? '|w' : ''}`;
		const line = lines.get(key) ?? { key, isBundle: !!end.bundle, node, target, y: end.y, rate: 0, waits: waits && !end.bundle ? (server.state === 'pending' ? 'busy' : 'fail') : null, servers: [] };

		line.rate += perSecond;
		line.servers.push(f.server);
		lines.set(key, line);
	}
	return [...lines.values()];
}

// Stacks the lines at one side; the middle of the stack is at the node. Returns the heights of nodes.
function stack(lines, end, of, at, other)
{
	const ends = new Map();

	for (const line of lines)
		ends.set(of(line), [...(ends.get(of(line)) ?? []), line]);
	const bars = [];

	for (const [key, list] of ends) {
		list.sort((a, b) => other(a) - other(b));
		const height = list.reduce((sum, l) => sum + l.width, 0);
		let y = at(list[0]) - height / 2;

		for (const line of list) {
			line[end] = y + line.width / 2;
			y += line.width;
		}
		bars.push({ key, y: at(list[0]), height: Math.max(4, height), waits: list.every((l) => l.waits) ? list[0].waits : null });
	}
	return bars;
}

// No stack may be higher than its node: then all lines are thinner.
function fit(lines, of, room)
{
	const sums = new Map();

	for (const line of lines)
		sums.set(of(line), (sums.get(of(line)) ?? 0) + line.width);
	return Math.min(1, room / Math.max(1, ...sums.values()));
}

// layOut({nodes, flows, place(server) => {y, bundle?}, serverOf, pitch, rowHeight})
export function layOut({ nodes, flows, place, serverOf, pitch, rowHeight })
{
	const lines = collect(nodes, flows, place, serverOf);
	const busiest = Math.max(0.1, ...lines.filter((l) => !l.isBundle).map((l) => l.rate));

	for (const line of lines)
		line.width = line.waits ? 1.2 : line.isBundle ? Math.min(MOST_BUNDLED, widthOf(line.rate)) : widthOf(line.rate);
	const k = Math.min(fit(lines, (l) => l.node.key, pitch * 0.8), fit(lines.filter((l) => !l.isBundle), (l) => l.target, rowHeight * NODE_SHARE));

	for (const line of lines) {
		line.width = line.waits ? 1.2 : Math.max(0.75, line.width * k);
		line.opacity = line.waits ? 0.9 : line.isBundle ? 0.3 : 0.26 + 0.44 * Math.sqrt(line.rate / busiest);
	}
	const left = stack(lines, 'from', (l) => l.node.key, (l) => l.node.y, (l) => l.y);
	const right = stack(lines.filter((l) => !l.isBundle), 'to', (l) => l.target, (l) => l.y, (l) => l.node.y);

	for (const line of lines)
		if (line.isBundle)
			line.to = line.y; // they meet at the edge
	return { lines, left, right };
}

const x0 = BAR, x1 = WIDTH - GAP;
const curve = (l) => `M${x0} ${l.from.toFixed(1)}C${(x0 + x1) / 2} ${l.from.toFixed(1)} ${(x0 + x1) / 2} ${l.to.toFixed(1)} ${x1} ${l.to.toFixed(1)}`;

const isOf = (line, focus) => (focus.server ? line.servers.includes(focus.server) : line.node.key === focus.node);

// Lines({layout, height, focus, more}): focus: {server} or {node} or null; more: {above, below}, rows that are not in sight
export const Lines = memo(({ layout, height, focus, more }) => html`<svg class=${`lines${focus ? ' has-focus' : ''}`} width=${WIDTH} height=${height}
	viewBox=${`0 0 ${WIDTH} ${height}`} aria-hidden="true">
	${layout.lines.map((l) => html`<path key=${l.key} class=${`flow${l.waits ? ` waits of-${l.waits}` : ''}${focus && isOf(l, focus) ? ' on' : ''}`} d=${curve(l)}
		style=${{ strokeWidth: `${l.width.toFixed(2)}px`, strokeOpacity: l.opacity.toFixed(2) }} />`)}
	${layout.left.map((b) => html`<rect key=${`l${b.key}`} class="node" x="0" y=${b.y - b.height / 2} width=${BAR} height=${b.height} rx="1" />`)}
	${layout.right.map((b) => html`<rect key=${`r${b.key}`} class=${`end${b.waits ? ` of-${b.waits}` : ''}`} x=${WIDTH - GAP} y=${b.y - b.height / 2} width=${GAP} height=${b.height} rx="1" />`)}
	${more?.above ? html`<text class="lines-more" x=${WIDTH - 10} y="14" text-anchor="end">${more.above} more</text>` : null}
	${more?.below ? html`<text class="lines-more" x=${WIDTH - 10} y=${height - 6} text-anchor="end">${more.below} more</text>` : null}
</svg>`);

// rateOn(): the rate of a node on the lines in focus, null if none of them is its
export function rateOn(layout, node, focus)
{
	const lines = layout.lines.filter((l) => l.node.key === node.key && isOf(l, focus));

	return lines.length ? lines.reduce((sum, l) => sum + l.rate, 0) : null;
}

const MOST_TOLD = 60;

// FlowTable({nodes, flows}): the same for screen readers
export const FlowTable = memo(({ sessions, flows }) => html`<div class="hidden"><table><caption>Calls per second of sessions, last minute</caption>
	<thead><tr><th>Session</th><th>Server</th><th>Calls per second</th><th>Waiting</th></tr></thead>
	<tbody>${flows.slice(0, MOST_TOLD).map((f) => {
		const s = sessions.get(f.session);

		return s ? html`<tr key=${`${f.session}|${f.server}`}><td>${clientName(s.client)} ${projectName(s)}</td><td>${safe(f.server)}</td>
			<td>${rate((f.callsLastMinute ?? 0) / 60)}</td><td>${f.waiting ?? 0}</td></tr>` : null;
	})}</tbody></table></div>`);
