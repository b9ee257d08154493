// http.mjs - node:http for servers that are started in hundreds of cases.
// An import of node:http also loads Node's own fetch and WebSocket, 55 ms at each start; getBuiltinModule() does not.
export const { createServer, request } = process.getBuiltinModule('node:http');
