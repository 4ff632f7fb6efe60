package claude

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// todoInput is what the tools of the list take: TodoWrite all of it, TaskUpdate
// a new subject.
type todoInput struct {
	Todos   todos `json:"todos"`
	Subject text  `json:"subject"`
}

type todos []struct {
	Content text `json:"content"`
	Status  text `json:"status"`
}

// todoResult is what the tools that make tasks one by one return. Results of
// other tools may hold anything under these names, so nothing is read at once.
type todoResult struct {
	Made    jsontext.Value `json:"task"`
	List    jsontext.Value `json:"tasks"`
	ID      jsontext.Value `json:"taskId"`
	Success jsontext.Value `json:"success"`
	Change  jsontext.Value `json:"statusChange"`
}

type todoTask struct {
	ID      text `json:"id"`
	Subject text `json:"subject"`
	Status  text `json:"status"`
}

// todoList is the session's list of tasks, as far as their tools have told it: of a
// resumed session what was there before is known when the model looks at the list.
type todoList struct {
	ids   []string
	steps []event.PlanStep
}

// whole reports the list that TodoWrite holds.
func (in *todoInput) whole(s *ledger.Scope) {
	p := event.Plan{Steps: []event.PlanStep{}}
	for _, td := range in.Todos {
		p.Steps = append(p.Steps, event.PlanStep{Text: string(td.Content), Status: stepStatus(td.Status)})
	}
	s.Emit(p)
}

func stepStatus(s text) event.StepStatus {
	switch s {
	case "in_progress":
		return event.StepInProgress
	case "completed":
		return event.StepCompleted
	}
	return event.StepPending
}

// result takes what a tool has done to the list, and tells the list if it is
// another one now.
func (l *todoList) result(s *ledger.Scope, tool, subject string, r *todoResult) {
	before := slices.Clone(l.steps)
	switch tool {
	case "TaskCreate":
		var t todoTask
		if json.Unmarshal(r.Made, &t, lenient) == nil && t.ID != "" {
			l.put(t)
		}
	case "TaskList":
		var all []todoTask
		if json.Unmarshal(r.List, &all, lenient) != nil {
			return
		}
		l.ids, l.steps = nil, nil
		for _, t := range all {
			l.put(t)
		}
	case "TaskUpdate":
		l.update(subject, r)
	}
	if !slices.Equal(before, l.steps) {
		s.Emit(event.Plan{Steps: append([]event.PlanStep{}, l.steps...)})
	}
}

func (l *todoList) put(t todoTask) {
	l.ids = append(l.ids, string(t.ID))
	l.steps = append(l.steps, event.PlanStep{Text: string(t.Subject), Status: stepStatus(t.Status)})
}

func (l *todoList) update(subject string, r *todoResult) {
	var id text
	var done bool
	var change struct {
		To text `json:"to"`
	}
	if json.Unmarshal(r.ID, &id, lenient) != nil || json.Unmarshal(r.Success, &done, lenient) != nil || !done {
		return
	}
	i := slices.Index(l.ids, string(id))
	if i < 0 {
		return
	}
	if subject != "" {
		l.steps[i].Text = subject
	}
	if r.Change == nil || json.Unmarshal(r.Change, &change, lenient) != nil {
		return
	}
	if change.To == "deleted" {
		l.ids, l.steps = slices.Delete(l.ids, i, i+1), slices.Delete(l.steps, i, i+1)
		return
	}
	l.steps[i].Status = stepStatus(change.To)
}
