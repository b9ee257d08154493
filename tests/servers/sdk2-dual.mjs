// sdk2-dual.mjs - SDK 2.x as serveStdio() serves by default: the client's first message decides the era.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeServer } from './sdk2.mjs';

serveStdio(() => makeServer('sdk2-dual'));
