// sdk2-legacy.mjs - SDK 2.x wired by hand to stdio: it speaks the legacy era only.
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './sdk2.mjs';

await makeServer('sdk2-legacy').connect(new StdioServerTransport());
