// clients.js - the names of clients as people know them, and the sessions of one agent as one.
import { safe } from './format.js';

const KNOWN = [
	[/^claude[-_ ]?code/i, 'Claude Code'], [/^claude[-_ ]?(ai|desktop)?/i, 'Claude'], [/^codex/i, 'Codex'], [/^cursor/i, 'Cursor'],
	[/^(visual studio code|vscode|vs code)/i, 'VS Code'], [/^gemini[-_ ]?cli/i, 'Gemini CLI'], [/^opencode/i, 'OpenCode'], [/^windsurf/i, 'Windsurf'],
	[/^zed/i, 'Zed'], [/^mcpool[-_ ]?dashboard/i, 'Dashboard'],
];

// clientName('claude-code') is "Claude Code"; an unknown client has the name it gave itself.
export function clientName(client)
{
	const known = KNOWN.find(([pattern]) => pattern.test(client ?? ''));

	return known ? known[1] : safe(client) || 'an agent';
}

// projectName(session): the last part of its folder, otherwise the way it came
export function projectName(session)
{
	const parts = (session.root ?? '').split('/').filter(Boolean);

	return safe(parts[parts.length - 1]) || safe(session.way) || '';
}
