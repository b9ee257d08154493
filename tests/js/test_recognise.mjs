// test_recognise.mjs - what the dashboard's "Add server" understands (src/web/page/recognise.js): snippets as READMEs have them.
import { quoted, recognise, splitWords, written } from '../../src/web/page/recognise.js';

let failures = 0;
function is(name, got, wanted) {
	const why = JSON.stringify(got) === JSON.stringify(wanted) ? '' : `got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`;
	console.log(why ? `FAIL recognise/${name}: ${why}` : `ok recognise/${name}`);
	if (why) failures++;
}
const short = (text) => recognise(text).servers.map((s) => `${s.name}: ${written(s.entry)}`);
const one = (text) => recognise(text).servers[0];

is('json_with_mcp_servers', short('{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://b.example/mcp"}}}'), ['a: npx -y x', 'b: https://b.example/mcp']);
is('json_of_vs_code', short('{"servers": {"gh": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"}}, "inputs": []}'), ['gh: https://api.githubcopilot.com/mcp/']);
is('settings_of_vs_code', short('{"mcp": {"servers": {"x": {"command": "x"}}}}'), ['x: x']);
is('json_of_opencode', short('{"mcp": {"c7": {"type": "local", "command": ["npx", "-y", "c7"]}}}'), ['c7: npx -y c7']);
is('one_entry', short('{"command": "uvx", "args": ["mcp-server-git", "--repository", "."]}'), ['git: uvx mcp-server-git --repository .']);
is('a_fragment_without_braces', short('"mem": {\n "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"],\n},'), ['mem: npx -y @modelcontextprotocol/server-memory']);
is('comments_and_commas_too_many', short('{ // my servers\n "mcpServers": {"a": {"url": "https://a//b",},}, /* end */ }'), ['a: https://a//b']);
is('a_fence_around_it', short('```json\n{"mcpServers": {"a": {"command": "x"}}}\n```'), ['a: x']);
is('toml_of_codex', short('[mcp_servers.context7]\ncommand = "npx"\nargs = ["-y", "@upstash/context7-mcp"]\n\n[mcp_servers.context7.env]\nA = "b"'), ['context7: npx -y @upstash/context7-mcp']);
is('toml_with_an_inline_table', one('[mcp_servers.x]\ncommand = "x"\nenv = { "A" = "1", B = \'2\' }').entry.env, { A: '1', B: '2' });
is('a_command_line', short('npx -y @modelcontextprotocol/server-filesystem "/my notes"'), ['filesystem: npx -y @modelcontextprotocol/server-filesystem \'/my notes\'']);
is('a_prompt_before_it', short('$ uvx mcp-server-fetch'), ['fetch: uvx mcp-server-fetch']);
is('variables_before_it', one('API_KEY=abc DEBUG=1 npx -y exa-mcp-server').entry, { command: 'npx', args: ['-y', 'exa-mcp-server'], env: { API_KEY: 'abc', DEBUG: '1' } });
is('docker', short('docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server'), ['github: docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server']);
is('a_scope_names_it', one('npx -y @playwright/mcp@latest').name, 'playwright');
is('a_file_names_it', one('node /src/weather/dist/index.js').name, 'weather');
is('an_address', short('https://mcp.sentry.dev/mcp'), ['sentry: https://mcp.sentry.dev/mcp']);
is('an_address_here', one('http://127.0.0.1:3001/mcp').name, 'local');
is('claude_mcp_add', short('claude mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/x'), ["files: npx -y @modelcontextprotocol/server-filesystem '~/x'"]);
is('claude_mcp_add_http', one('claude mcp add --transport http --scope user notion https://mcp.notion.com/mcp').entry, { url: 'https://mcp.notion.com/mcp' });
is('claude_mcp_add_with_the_transport_behind', short('claude mcp add sentry --transport http https://mcp.sentry.dev/mcp'), ['sentry: https://mcp.sentry.dev/mcp']);
is('claude_mcp_add_sse', one('claude mcp add -t sse asana https://mcp.asana.com/sse').entry.type, 'sse');
is('claude_mcp_add_with_variables', one('claude mcp add -e A=1 -e B=2 x -- y z').entry, { command: 'y', args: ['z'], env: { A: '1', B: '2' } });
is('claude_mcp_add_with_a_header', one('claude mcp add --transport http gh https://x/mcp --header "Authorization: Bearer abc"').entry.headers, { Authorization: 'Bearer abc' });
is('claude_mcp_add_over_two_lines', short('claude mcp add x \\\n  -- npx y'), ['x: npx y']);
is('claude_mcp_add_json', short('claude mcp add-json w \'{"type":"stdio","command":"w"}\''), ['w: w']);
is('codex_mcp_add', one('codex mcp add c --env K=v -- npx c').entry, { command: 'npx', args: ['c'], env: { K: 'v' } });
is('code_add_mcp', short('code --add-mcp \'{"name":"p","command":"npx","args":["p"]}\''), ['p: npx p']);
is('mcpool_add', short('mcpool add sentry --url https://mcp.sentry.dev/mcp --token-env SENTRY_TOKEN'), ['sentry: https://mcp.sentry.dev/mcp']);
is('several_lines', short('npx a\n# a comment\nhttps://b.example/mcp'), ['a: npx a', 'b: https://b.example/mcp']);
is('variables_of_vs_code_are_respelled', one('{"servers":{"a":{"command":"x","env":{"T":"${env:TOK}"}}}}').entry.env, { T: '${TOK}' });
is('inputs_of_vs_code_become_secrets', [one('{"servers":{"a":{"command":"x","env":{"T":"${input:api-key}"}}}}').entry.env.T, one('{"servers":{"a":{"command":"x","env":{"T":"${input:api-key}"}}}}').notes.length], ['${secret:API_KEY}', 1]);
is('a_placeholder_is_told', one('{"mcpServers":{"a":{"command":"x","env":{"T":"<YOUR_TOKEN>"}}}}').notes, ['T has a placeholder: <YOUR_TOKEN>']);
is('a_command_with_words_is_split', one('{"mcpServers":{"a":{"command":"npx -y x"}}}').entry, { command: 'npx', args: ['-y', 'x'] });
is('nothing_is_nothing', recognise('  '), { servers: [], problem: '' });
is('half_of_json_is_said', recognise('{"mcpServers": {').problem.startsWith('It is not JSON'), true);
is('an_open_quote_is_said', recognise('npx "a').problem, 'It cannot be read: a quote " is not closed.');
is('a_pipe_is_refused', recognise('curl x | sh').servers.length, 0);
is('json_without_a_server_is_said', recognise('{"a": 1}').problem, 'No server is in it: nothing has a command or a url.');
is('a_member_named_proto_does_no_harm', short('{"mcpServers":{"__proto__":{"command":"x"}}}'), ['__proto__: x']);
is('words_are_split_as_a_shell_does', splitWords('a "b c" \'d"e\' f\\ g ""'), ['a', 'b c', 'd"e', 'f g', '']);
is('a_line_break_in_a_word_is_shown', [quoted('a\nb'), quoted('a\\nb'), quoted('a\u202eb')], ["$'a\\nb'", "'a\\nb'", "$'a\\u202eb'"]);
process.exit(failures ? 1 : 0);
