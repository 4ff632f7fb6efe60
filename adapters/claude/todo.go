package claude

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// todoInput is the input of the list tools: TodoWrite has the whole list,
// TaskUpdate a new subject.
type todoInput struct {
	Todos   todos       `json:"todos"`
	Subject lenient.Str `json:"subject"`
}

type todos []struct {
	Content lenient.Str `json:"content"`
	Status  lenient.Str `json:"status"`
}

// todoResult is the result of the tools that edit single tasks. The fields are
// decoded later, because other tools may use the same names for anything.
type todoResult struct {
	Made    jsontext.Value `json:"task"`
	List    jsontext.Value `json:"tasks"`
	ID      jsontext.Value `json:"taskId"`
	Success jsontext.Value `json:"success"`
	Change  jsontext.Value `json:"statusChange"`
}

type todoTask struct {
	ID      lenient.Str `json:"id"`
	Subject lenient.Str `json:"subject"`
	Status  lenient.Str `json:"status"`
}

// todoList is the session's task list as far as tools reported it. In a resumed
// session, earlier tasks are unknown until the model lists them.
type todoList struct {
	ids   []string
	steps []event.PlanStep
}

// emitPlan emits the list of a TodoWrite.
func (in *todoInput) emitPlan(s *ledger.Scope) {
	p := event.Plan{Steps: []event.PlanStep{}}
	for _, td := range in.Todos {
		p.Steps = append(p.Steps, event.PlanStep{Text: string(td.Content), Status: stepStatus(td.Status)})
	}
	s.Emit(p)
}

func stepStatus(s lenient.Str) event.StepStatus {
	switch s {
	case "in_progress":
		return event.StepInProgress
	case "completed":
		return event.StepCompleted
	}
	return event.StepPending
}

// applyResult applies a tool's result to the list and emits the list if it
// changed.
func (l *todoList) applyResult(s *ledger.Scope, tool, subject string, r *todoResult) {
	before := slices.Clone(l.steps)
	switch tool {
	case "TaskCreate":
		var t todoTask
		if json.Unmarshal(r.Made, &t, lenient.Options) == nil && t.ID != "" {
			l.addTask(t)
		}
	case "TaskList":
		var all []todoTask
		if json.Unmarshal(r.List, &all, lenient.Options) != nil {
			return
		}
		l.ids, l.steps = nil, nil
		for _, t := range all {
			l.addTask(t)
		}
	case "TaskUpdate":
		l.updateTask(subject, r)
	}
	if !slices.Equal(before, l.steps) {
		s.Emit(event.Plan{Steps: append([]event.PlanStep{}, l.steps...)})
	}
}

func (l *todoList) addTask(t todoTask) {
	l.ids = append(l.ids, string(t.ID))
	l.steps = append(l.steps, event.PlanStep{Text: string(t.Subject), Status: stepStatus(t.Status)})
}

func (l *todoList) updateTask(subject string, r *todoResult) {
	var id lenient.Str
	var done bool
	var change struct {
		To lenient.Str `json:"to"`
	}
	if json.Unmarshal(r.ID, &id, lenient.Options) != nil || json.Unmarshal(r.Success, &done, lenient.Options) != nil || !done {
		return
	}
	i := slices.Index(l.ids, string(id))
	if i < 0 {
		return
	}
	if subject != "" {
		l.steps[i].Text = subject
	}
	if r.Change == nil || json.Unmarshal(r.Change, &change, lenient.Options) != nil {
		return
	}
	if change.To == "deleted" {
		l.ids, l.steps = slices.Delete(l.ids, i, i+1), slices.Delete(l.steps, i, i+1)
		return
	}
	l.steps[i].Status = stepStatus(change.To)
}
