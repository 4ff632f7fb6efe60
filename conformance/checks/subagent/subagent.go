// Package subagent holds the checks of sub-agents. It is not part of the stable
// interface.
package subagent

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Attributed,
		Spawn,
		TextSeparate,
		Parallel,
		Background,
		Task,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		flattensSubAgents,
		forgetsSubAgents,
		mixesSubAgents,
		saysItTwiceForSubAgents,
		spawnsInSilence,
		forgetsTheCall,
		losesTheAnswerOfATask,
		losesTheTokensOfATask,
		taskOfNoCall,
		taskWithoutAName,
		startsNobody,
	}
}
