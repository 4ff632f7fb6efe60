package component_test

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// A registry lists the components. With component.Adapter(inner, registry) an agent
// shows them; their events give the same chat live and from storage.
func Example() {
	registry, err := component.Parse([]byte(`{
		"surfaces": ["chat", "sidebar"],
		"components": [
			{"name": "weather_card", "surfaces": ["chat"], "props": {"type":"object","required":["city"]}},
			{"name": "plan_editor", "surfaces": ["sidebar"], "actions": {"approve": {"type":"object"}}}
		],
		"tools": [{"tool": "get_weather", "component": "weather_card"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	events := []event.Event{
		{Seq: 1, SessionID: "s", Turn: 1, Data: event.ToolStart{ToolUseID: "t1", Tool: "get_weather", Input: event.Raw(`{"city":"Bern"}`)}},
		{Seq: 2, SessionID: "s", Turn: 1, Data: event.ToolResult{ToolUseID: "t1", Output: `{"temp":21}`, Status: event.ToolOK}},
		{Seq: 3, SessionID: "s", Turn: 1, Data: event.ComponentUpdate{ComponentID: "plan", ComponentName: "plan_editor", Surface: "sidebar", Props: event.Raw(`{"steps":["look"]}`)}},
		{Seq: 4, SessionID: "s", Turn: 1, Data: event.ComponentUpdate{ComponentID: "map", ComponentName: "map", Surface: "sidebar", Props: event.Raw(`{}`)}},
	}
	chat := replay.Reduce(events, replay.WithRegistry(registry))
	for _, b := range chat.Messages[0].Blocks {
		switch b.Kind {
		case replay.KindComponent:
			fmt.Println("chat:", b.Component.Name, b.Status, string(b.Component.Props))
		case replay.KindNotice:
			fmt.Println("notice:", b.Text)
		}
	}
	for _, c := range chat.Surface("sidebar") {
		fmt.Println("sidebar:", c.Name, string(c.Props))
	}
	clicked := component.Callback{ComponentID: "plan", Action: "approve", Payload: event.Raw(`{"step":0}`)}
	message, err := clicked.Message("m2")
	fmt.Println("to the agent:", message.Text, err)
	// Output:
	// chat: weather_card ready {"city":"Bern","temp":21}
	// notice: component map: no component "map" is registered; there are: plan_editor, weather_card
	// sidebar: plan_editor {"steps":["look"]}
	// to the agent: {"type":"component_callback","component_id":"plan","action":"approve","payload":{"step":0}} <nil>
}
