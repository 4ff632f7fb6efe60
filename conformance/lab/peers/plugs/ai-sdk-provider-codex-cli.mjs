// ai-sdk-provider-codex-cli, by its app-server: one process, one thread.
import { streamText } from "ai";
import { createCodexAppServer } from "ai-sdk-provider-codex-cli";
import { provide } from "./ai-sdk.mjs";
import { result, rules } from "./codex.mjs";
import { ask } from "./plug.mjs";

let codex;

const approve = (tool_name) => async ({ params }) => {
  const tool_input = params.command ? { command: params.command } : {}; // of a file change it has the id alone
  const a = await ask({ tool_name, tool_input, tool_use_id: params.itemId });
  return { decision: { allow: "accept", deny: "decline", cancel: "cancel" }[a.decision] };
};

provide({
  name: "ai-sdk-provider-codex-cli", runtime: "codex", streamText, asks: true, can: ["resume"],
  result, events: ["tool_output"], lacks: ["permission_request.tool_input"],
  session: (meta) => meta["codex-app-server"]?.threadId,
  open({ dir, mode, model = "gpt-5.5", resume }) {
    const { approval, sandbox } = rules(mode);
    codex = createCodexAppServer({
      defaultSettings: {
        codexPath: process.env.CODEX_PATH, cwd: dir, logger: false, threadMode: "persistent", resume,
        approvalPolicy: approval, sandboxPolicy: sandbox,
        serverRequests: { onCommandExecutionApproval: approve("Bash"), onFileChangeApproval: approve("Edit") },
      },
    });
    const one = codex(model);
    return { next: () => one };
  },
  shut: () => codex.close(),
});
