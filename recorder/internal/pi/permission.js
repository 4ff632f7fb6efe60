// Asks the user about each call of the tools below, in a dialog whose message describes
// the call. The dialog closes if the turn is stopped.
export default function (pi) {
	const asked = ASKED;
	pi.on("tool_call", async (event, ctx) => {
		if (!asked.includes(event.toolName)) return;
		const message = JSON.stringify({ toolCallId: event.toolCallId, toolName: event.toolName, input: event.input });
		const allowed = await ctx.ui.confirm(`Allow ${event.toolName}?`, message, { signal: ctx.signal });
		if (ctx.signal?.aborted) return { block: true, reason: "The turn was stopped." };
		if (!allowed) return { block: true, reason: "The user said no." };
	});
}
