// sdk2-modern.mjs - SDK 2.x that speaks 2026-07-28 only: `initialize` is refused with -32022.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './sdk2.mjs';

serveStdio(() => makeServer('sdk2-modern'), { legacy: 'reject' });
