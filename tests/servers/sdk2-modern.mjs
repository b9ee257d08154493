// sdk2-modern.mjs - SDK 2.x that speaks 2026-07-28 only: `initialize` is refused with -32022.
import { serve } from './sdk2.mjs';

serve('sdk2-modern', { stdio: 'reject', http: 'reject' });
