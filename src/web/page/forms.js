// forms.js - the part of the page that later.js loads.
export { openAddServer } from './add_server.js';
export { Agents } from './agents.js';
export { openApproval } from './approval.js';
export { openEdit } from './edit_server.js';
export { answerQuestion } from './elicitation.js';
export { openImport } from './import.js';
export { JsonTree } from './json_tree.js';
export { openLogin } from './login.js';
export { ReadResource, TryPrompt, TryTool } from './try_tool.js';
export { Waiting } from './waiting.js';
