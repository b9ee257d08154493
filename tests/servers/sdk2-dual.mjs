// sdk2-dual.mjs - SDK 2.x as it serves by default: by stdio the client's first message decides the
// era, by HTTP each request does, and legacy ones have no session.
import { serve } from './sdk2.mjs';

serve('sdk2-dual', { stdio: 'serve', http: 'stateless' });
