package event

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// shape describes the JSON form of a Go type. Strict decoding and the JSON Schema
// are both derived from it.
type shape struct {
	kind   kind
	name   string   // the Go type's name; of objects and enums
	enum   []string // of strings with a closed list of values
	fields []field  // of objects, in their order
	index  map[string]int
	elem   *shape // of arrays
}

type field struct {
	name     string
	goName   string
	shape    *shape
	required bool
	min      int // of a number its least value, of a string its least length
}

type kind string

const (
	kindAny     kind = "any JSON"
	kindString  kind = "a string"
	kindInteger kind = "a whole number"
	kindNumber  kind = "a number"
	kindBool    kind = "true or false"
	kindTime    kind = "a time"
	kindObject  kind = "an object"
	kindArray   kind = "an array"
)

// maxInteger is the greatest whole number that every reader of JSON keeps
// exactly, because many read numbers as doubles.
const maxInteger = 1<<53 - 1

// shapeOf derives a type's shape from its fields and their tags. A field without an
// omit option is required; a tag min:"1" bounds it.
func shapeOf(t reflect.Type) *shape {
	if values, ok := enums[t]; ok {
		return &shape{kind: kindString, name: t.Name(), enum: values}
	}
	switch t {
	case reflect.TypeFor[Raw]():
		return &shape{kind: kindAny}
	case reflect.TypeFor[time.Time]():
		return &shape{kind: kindTime}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice:
		return &shape{kind: kindArray, elem: shapeOf(t.Elem())}
	case reflect.String:
		return &shape{kind: kindString}
	case reflect.Bool:
		return &shape{kind: kindBool}
	case reflect.Int, reflect.Int64:
		return &shape{kind: kindInteger}
	case reflect.Float64:
		return &shape{kind: kindNumber}
	case reflect.Struct:
		return objectShape(t)
	}
	panic("event: no JSON form for " + t.String())
}

func objectShape(t reflect.Type) *shape {
	s := &shape{kind: kindObject, name: t.Name(), index: map[string]int{}}
	for i := range t.NumField() {
		f := t.Field(i)
		_, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := memberName(f)
		least, _ := strconv.Atoi(f.Tag.Get("min"))
		s.index[name] = i
		s.fields = append(s.fields, field{
			name: name, goName: f.Name, shape: shapeOf(f.Type),
			required: !strings.Contains(opts, "omit"), min: least,
		})
	}
	return s
}

// memberName returns the name of a field in the JSON form.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// enums holds the closed lists of values, by their type.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[Cause]():            valuesOf(CauseUser, CauseTask, CauseCommand),
	reflect.TypeFor[Via]():              valuesOf(ViaTurn, ViaMerge, ViaSteer),
	reflect.TypeFor[BlockStatus]():      valuesOf(BlockComplete, BlockReplaced, BlockInterrupted, BlockRetracted),
	reflect.TypeFor[ToolStatus]():       valuesOf(ToolOK, ToolError, ToolDenied, ToolInterrupted, ToolBackgrounded),
	reflect.TypeFor[MediaKind]():        valuesOf(MediaImage, MediaAudio, MediaDocument),
	reflect.TypeFor[ChangeKind]():       valuesOf(ChangeAdd, ChangeUpdate, ChangeDelete, ChangeMove),
	reflect.TypeFor[TaskKind]():         valuesOf(TaskSubagent, TaskCommand),
	reflect.TypeFor[TaskStatus]():       valuesOf(TaskRunning, TaskCompleted, TaskFailed, TaskStopped, TaskInterrupted),
	reflect.TypeFor[Decision]():         valuesOf(DecisionAllow, DecisionDeny, DecisionCancel),
	reflect.TypeFor[By]():               valuesOf(ByUser, ByPolicy, ByRuntime, ByWithdrawn),
	reflect.TypeFor[StepStatus]():       valuesOf(StepPending, StepInProgress, StepCompleted),
	reflect.TypeFor[Scope]():            valuesOf(ScopeRequest, ScopeTurn, ScopeSession),
	reflect.TypeFor[Phase]():            valuesOf(PhaseStart, PhaseEnd),
	reflect.TypeFor[CheckpointAction](): valuesOf(CheckpointCreated, CheckpointRestored),
	reflect.TypeFor[Level]():            valuesOf(LevelInfo, LevelWarning, LevelError),
	reflect.TypeFor[NoticeCode](): valuesOf(NoticeUnknownMessage, NoticeGarbage, NoticeLongLine, NoticeRetry,
		NoticeWarning, NoticeLate, NoticeRefused),
	reflect.TypeFor[ErrorCode](): valuesOf(ErrorAuth, ErrorRateLimit, ErrorOverloaded, ErrorBilling, ErrorInvalid,
		ErrorContext, ErrorModel, ErrorNetwork, ErrorLimit, ErrorCrash, ErrorTimeout, ErrorProtocol,
		ErrorUnknown, ErrorStartFailure),
}

func valuesOf[T ~string](values ...T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// ErrorCodes returns the closed set of error codes.
func ErrorCodes() []ErrorCode {
	var codes []ErrorCode
	for _, c := range enums[reflect.TypeFor[ErrorCode]()] {
		codes = append(codes, ErrorCode(c))
	}
	return codes
}
