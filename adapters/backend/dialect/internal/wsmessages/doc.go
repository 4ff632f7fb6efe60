// Package wsmessages translates events to the messages that chat servers with one text
// per response send over a WebSocket, and checks such streams.
//
//	text_delta         {responseId, delta}                separator if it is only the blank line between two blocks
//	text_done          {responseId, text}                 ends a response
//	thinking_start     {responseId}
//	thinking_delta     {responseId, delta}
//	thinking_done      {responseId, text}
//	tool_call_start    {callId, toolName, arguments}      arguments are JSON in a text
//	tool_output_delta  {callId, toolName, delta}
//	tool_result        {callId, toolName, ok, result}     or error {code, message}
//	output_cancelled   {responseId}                       ends a response
//	agent_callback_result  {responseId, result}           the answer of a sub-agent
//
// A turn is a response, SESSION/TURN. Its blocks of text are one text, with a blank line between
// two of them: a separate text_delta with the member separator, so that a reader can take the
// blocks apart. text_done holds the whole text: it is authoritative. If it is not the sum of the
// deltas, because a block was retracted, replaced or went on after another one, it has the member
// replaces.
//
// A stopped turn ends in output_cancelled. So does one that failed: the vocabulary has no
// errors, therefore output_cancelled has a member error then. If the text is not the sum of the
// deltas, a text_done with the member cancelled comes before it. Error codes of tools are tool_error, tool_interrupted and,
// beyond the vocabulary, tool_denied.
//
// A tool_result has no place for media, and does not state that the output was cut. Beyond the
// vocabulary, it has the member backgrounded if the call runs on after it.
//
// Package sidecar sends them over a WebSocket, where each has its cursor as a further member.
//
// The vocabulary has no requests, plans, components, figures, notices and progress, and shows no work of
// sub-agents: see LeftOut. A client needs the session's own events for these.
package wsmessages
