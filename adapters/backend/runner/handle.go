package runner

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// handlers are the commands, by their types.
var handlers = map[string]func(*runner, command){
	"message":                (*runner).handleMessage,
	"interrupt":              (*runner).handleInterrupt,
	"stop":                   (*runner).handleStop,
	"set_model":              (*runner).handleSetModel,
	"set_permission_mode":    (*runner).handleSetMode,
	"permission_response":    (*runner).handlePermission,
	"user_question_response": (*runner).handleAnswers,
	"plan_approval_response": (*runner).handlePlan,
	"rewind_files":           (*runner).handleRewind,
	"get_supported_models":   (*runner).handleList,
	"get_supported_commands": (*runner).handleList,
	"get_mcp_status":         (*runner).handleList,
	"get_account_info":       (*runner).handleList,
}

// listsOf are the lists that commands request.
var listsOf = map[string]adapters.List{
	"get_supported_models":   adapters.ListModels,
	"get_supported_commands": adapters.ListCommands,
	"get_mcp_status":         adapters.ListMCP,
	"get_account_info":       adapters.ListAccount,
}

func (r *runner) handleLine(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	c, err := parseCommand(line)
	if err != nil {
		r.refuse(c.Type, err)
		return
	}
	handle, ok := handlers[c.Type]
	if !ok {
		r.refuse(c.Type, fmt.Errorf("no command %q: use one of %s", c.Type, strings.Join(slices.Sorted(maps.Keys(handlers)), ", ")))
		return
	}
	handle(r, c)
}

func (r *runner) handleMessage(c command) {
	if r.draining {
		r.refuse(c.Type, fmt.Errorf("the conversation ends: no message is taken after stop"))
		return
	}
	r.messages++
	r.queue = append(r.queue, c.message(fmt.Sprintf("message-%d", r.messages)))
	r.sendNext()
	r.writeQueue()
}

// handleInterrupt stops the turn that runs now. No message is sent before that is done, because
// its turn would be stopped too.
func (r *runner) handleInterrupt(c command) {
	if !r.busy {
		return
	}
	r.stopping++
	r.sent = "" // it may be stopped before a turn takes it
	go r.reporting(c.Type, func(ctx context.Context) error { return r.session.Stop(ctx) }, func(error) {
		r.stopping--
		r.sendNext()
		r.writeQueue()
	})()
}

func (r *runner) handleStop(command) {
	r.draining = true
	r.queue = nil
	r.writeQueue()
}

// inputEnded ends the conversation when the queue is empty, and refuses the open requests.
func (r *runner) inputEnded() {
	r.draining = true
	r.refuseAll()
}

func (r *runner) handleSetModel(c command) {
	r.doOperation(c.Type, op.Call{Do: op.SetModel.Name, Model: c.Model}, nil)
}

func (r *runner) handleSetMode(c command) {
	r.doOperation(c.Type, op.Call{Do: op.SetMode.Name, Mode: message.Mode(c.Mode)}, nil)
}

// doOperation runs an optional operation after those before it, and then calls done with its
// result, unless it failed.
func (r *runner) doOperation(typ string, c op.Call, done func(result any)) {
	if !adapters.CanDo(r.session, c.Do) {
		r.refuse(typ, adapters.ErrUnsupported)
		return
	}
	var result any
	do := func(ctx context.Context) (err error) {
		result, err = adapters.Do(ctx, r.session, c)
		return err
	}
	r.do(typ, do, func(err error) {
		if err == nil && done != nil {
			done(result)
		}
	})
}

func (r *runner) handlePermission(c command) {
	r.answer(c.Type, c.RequestID, adapters.Answer{Decision: c.Decision, Message: c.Message, Input: c.Input, Scope: c.Scope})
}

func (r *runner) handleAnswers(c command) {
	r.answer(c.Type, c.RequestID, adapters.Answer{Value: c.Answers})
}

func (r *runner) handlePlan(c command) {
	a := adapters.Answer{Decision: event.DecisionDeny, Value: jsontext.Value(`{"approved":false}`), Message: c.Reason}
	if c.Approved {
		a = adapters.Answer{Decision: event.DecisionAllow, Value: jsontext.Value(`{"approved":true}`)}
	}
	r.answer(c.Type, c.RequestID, a)
}

func (r *runner) handleRewind(c command) {
	r.doOperation(c.Type, op.Call{Do: op.Rewind.Name, MessageID: c.CheckpointID, Dry: c.DryRun}, func(result any) {
		if changes, ok := result.(adapters.Rewound); ok && c.DryRun { // the event checkpoint reports any other
			r.write(message.FilesRewound{CheckpointID: c.CheckpointID, Files: changes.Files, Insertions: changes.Insertions, Deletions: changes.Deletions, DryRun: true})
		}
	})
}

// handleList requests a list. A turn that runs does not delay it.
func (r *runner) handleList(c command) {
	if !adapters.CanDo(r.session, op.List.Name) {
		r.refuse(c.Type, adapters.ErrUnsupported)
		return
	}
	r.doNow(c.Type, func(ctx context.Context) error {
		result, err := adapters.Do(ctx, r.session, op.Call{Do: op.List.Name, List: string(listsOf[c.Type])})
		if err == nil {
			list, _ := result.([]adapters.Listed)
			r.later(func() { r.write(message.Listing{Request: c.Type, Entries: append([]adapters.Listed{}, list...)}) })
		}
		return err
	})
}
