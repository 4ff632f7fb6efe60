package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheCall = broken.Adapter{
	Name: "forgets-the-call-of-a-task", Sentence: "gives a task the id of another call",
	Proves:   "subagent.task",
	Mutation: broken.Change(func(d *event.Task) { d.ToolUseID = "call-of-" + d.TaskID }),
}

var losesTheAnswerOfATask = broken.Adapter{
	Name: "loses-the-answer-of-a-task", Sentence: "reports a task without its text",
	Proves: "subagent.task", Mutation: broken.Omit("task.text"),
}

var losesTheTokensOfATask = broken.Adapter{
	Name: "loses-the-tokens-of-a-task", Sentence: "reports a task without its tokens",
	Proves: "subagent.task", Mutation: broken.Omit("task.usage"),
}

var taskOfNoCall = broken.Adapter{
	Name: "task-of-no-call", Sentence: "does not say which call started a task",
	Proves: "subagent.task", Mutation: broken.Omit("task.tool_use_id"),
}

var taskWithoutAName = broken.Adapter{
	Name: "task-without-a-name", Sentence: "reports the task of an agent without the agent's name",
	Proves: "subagent.task", Mutation: broken.Omit("task.name"),
}

var startsNobody = broken.Adapter{
	Name: "starts-nobody", Sentence: "reports the call that starts an agent without the agent's name",
	Proves: "subagent.task", Mutation: broken.Omit("tool_start.subagent_name"),
}
