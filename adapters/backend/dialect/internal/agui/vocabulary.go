package agui

import "github.com/turnspec/turnspec/adapters/backend/dialect"

const (
	common     = " timestamp?:int metadata?:object rawEvent?:value"       // of each event
	ofAgent    = " subagentRunId?:text" + common                          // of an event that a sub-agent may write
	part       = " id?:text metadata?:value"                              // of each part of a content
	ofMessage  = " id:text subagentRunId?:text metadata?:object"          // of each message
	encrypted  = " encryptedValue?:text encryptedValueType?:text"         // encryptedValueType is new in 1.1
	namedBy    = ofMessage + " name?:text" + encrypted                    // of messages with an author
	anyContent = "content:text,[]{part.type}"                             // of what a user or a tool says
	input      = "input?:{input} protocolVersion?:text parentRunId?:text" // of RUN_STARTED
)

// vocabulary has the events of the schemas of AG-UI 1.0 and 1.1.
var vocabulary = dialect.NewVocabulary(map[string]string{
	"RUN_STARTED":               "threadId:text runId:text " + input + common,
	"RUN_FINISHED":              "threadId:text runId:text outcome?:{outcome.type} result?:value usage?:[]{usage}" + common,
	"RUN_ERROR":                 "message:text code?:text usage?:[]{usage}" + common,
	"STEP_STARTED":              "stepName:text" + ofAgent,
	"STEP_FINISHED":             "stepName:text" + ofAgent,
	"TEXT_MESSAGE_START":        "messageId:text role?:=developer|system|assistant|user name?:text" + ofAgent,
	"TEXT_MESSAGE_CONTENT":      "messageId:text delta:text" + ofAgent,
	"TEXT_MESSAGE_END":          "messageId:text" + ofAgent,
	"TEXT_MESSAGE_CHUNK":        "messageId?:text role?:=developer|system|assistant|user name?:text delta?:text" + ofAgent,
	"TOOL_CALL_START":           "toolCallId:text toolCallName:text parentMessageId?:text" + ofAgent,
	"TOOL_CALL_ARGS":            "toolCallId:text delta:text" + ofAgent,
	"TOOL_CALL_END":             "toolCallId:text" + ofAgent,
	"TOOL_CALL_CHUNK":           "toolCallId?:text toolCallName?:text parentMessageId?:text delta?:text" + ofAgent,
	"TOOL_CALL_RESULT":          "messageId:text toolCallId:text role?:=tool " + anyContent + ofAgent,
	"STATE_SNAPSHOT":            "snapshot:any" + ofAgent,
	"STATE_DELTA":               "delta:[]{operation.op}" + ofAgent,
	"MESSAGES_SNAPSHOT":         "messages:[]{message.role}" + common,
	"ACTIVITY_SNAPSHOT":         "messageId:text activityType:text content:object replace?:flag" + ofAgent,
	"ACTIVITY_DELTA":            "messageId:text activityType:text patch:[]{operation.op}" + ofAgent,
	"RAW":                       "event:any source?:text" + ofAgent,
	"CUSTOM":                    "name:text value:any" + ofAgent,
	"REASONING_START":           "messageId:text" + ofAgent,
	"REASONING_END":             "messageId:text" + ofAgent,
	"REASONING_MESSAGE_START":   "messageId:text role:=reasoning" + ofAgent,
	"REASONING_MESSAGE_CONTENT": "messageId:text delta:text" + ofAgent,
	"REASONING_MESSAGE_END":     "messageId:text" + ofAgent,
	"REASONING_MESSAGE_CHUNK":   "messageId?:text delta?:text" + ofAgent,
	"REASONING_ENCRYPTED_VALUE": "subtype:=tool-call|message entityId:text encryptedValue:text encryptedValueType?:text" + ofAgent,
	"SUBAGENT_STARTED":          "subagentRunId:text name:text description?:text parentSubagentRunId?:text parentToolCallId?:text parentMessageId?:text" + common,
	"SUBAGENT_FINISHED":         "subagentRunId:text outcome?:{segment.type} result?:value" + common,
	"SUBAGENT_ERROR":            "subagentRunId:text message:text code?:text" + common,

	"{outcome}success":   "pendingToolCallIds?:[]text",
	"{outcome}interrupt": "interrupts:[]{interrupt}",
	"{outcome}cancelled": "",
	"{interrupt}":        "id:text reason:text subagentRunId?:text message?:text toolCallId?:text responseSchema?:object expiresAt?:text metadata?:object",
	"{segment}success":   "", // of a sub-agent
	"{segment}suspended": "interruptIds?:[]text",
	"{usage}": "provider?:text model?:text inputTokens?:count outputTokens?:count totalTokens?:count " +
		"reasoningTokens?:count cachedInputTokens?:count cacheWriteInputTokens?:count",

	"{input}": "threadId:text runId:text protocolVersion?:text parentRunId?:text state?:any messages:[]{message.role} " +
		"tools?:[]{tool} context?:[]{context} forwardedProps?:value resume?:[]{resume}",
	"{tool}":    "name:text description:text parameters?:value metadata?:object",
	"{context}": "description:text value:text",
	"{resume}":  "interruptId:text status:=resolved|cancelled payload?:value metadata?:object",

	"{message}developer": "content:text" + namedBy,
	"{message}system":    "content:text" + namedBy,
	"{message}assistant": "content?:text toolCalls?:[]{call}" + namedBy,
	"{message}user":      anyContent + namedBy,
	"{message}tool":      "toolCallId:text error?:text " + anyContent + ofMessage + encrypted,
	"{message}activity":  "activityType:text content:object" + ofMessage,
	"{message}reasoning": "content:text" + ofMessage + encrypted,
	"{call}":             "id:text type:=function function:{function} metadata?:object" + encrypted,
	"{function}":         "name:text arguments:text",

	"{part}text":     "text:text" + part,
	"{part}image":    "source:{source.type}" + part,
	"{part}audio":    "source:{source.type}" + part,
	"{part}video":    "source:{source.type}" + part,
	"{part}document": "source:{source.type}" + part,
	"{source}data":   "value:text mimeType:text",
	"{source}url":    "value:text mimeType?:text",
	"{source}file":   "value:text provider?:text mimeType?:text",

	// RFC 6902, section 4: members that an operation does not define are ignored.
	"{operation}add":     "path:pointer value:any *:any",
	"{operation}remove":  "path:pointer *:any",
	"{operation}replace": "path:pointer value:any *:any",
	"{operation}move":    "from:pointer path:pointer *:any",
	"{operation}copy":    "from:pointer path:pointer *:any",
	"{operation}test":    "path:pointer value:any *:any",
}).Closed()
