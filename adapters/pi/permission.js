// The extension by which the adapter asks for permission: a dialog for each call of these
// tools. Its message describes the call as JSON. If the turn is aborted, the dialog closes.
const asked = new Set([ASKED]);

export default function (pi) {
	pi.on("tool_call", async ({ toolCallId, toolName, input }, { ui, signal }) => {
		if (!asked.has(toolName)) return undefined;
		const call = JSON.stringify({ toolCallId, toolName, input });
		const yes = await ui.confirm(`Run ${toolName}?`, call, { signal });
		if (signal?.aborted) return { block: true, reason: "The turn was stopped." };
		return yes ? undefined : { block: true, reason: "The user said no." };
	});
}
