// Offers the model a tool that asks the user, in a dialog for each question: one of its choices,
// or a line if it has none, a text if its header is Text, a yes or no if it is Confirm.
export default function (pi) {
	const text = { type: "string" };
	const question = { type: "object", properties: { question: text, header: text, options: { type: "array", items: { type: "object" } } } };
	pi.registerTool({
		name: "question",
		label: "Question",
		description: "Asks the user.",
		parameters: { type: "object", properties: { questions: { type: "array", items: question } }, required: ["questions"] },
		async execute(_id, { questions }, signal, _update, ctx) {
			const answers = [];
			for (const { question, header, options } of questions) {
				const choices = (options ?? []).map((o) => o.label);
				let answer;
				if (header === "Confirm") answer = (await ctx.ui.confirm(question, "It takes an hour.", { signal })) ? "Yes" : "No";
				else if (choices.length > 0) answer = await ctx.ui.select(question, choices, { signal });
				else if (header === "Text") answer = await ctx.ui.editor(question, "");
				else answer = await ctx.ui.input(question, header, { signal });
				if (signal?.aborted) throw new Error("The turn was stopped.");
				if (answer === undefined) ctx.ui.notify(`No answer: ${question}`, "warning");
				answers.push(`${question} ${answer ?? "no answer"}`);
			}
			return { content: [{ type: "text", text: answers.join("\n") }], details: {} };
		},
	});
}
