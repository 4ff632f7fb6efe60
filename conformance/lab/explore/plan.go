package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// Plan is what a scenario is composed of: a permission mode and a list of moves. The
// same plan always gives the same scenario.
type Plan struct {
	Mode  string   `json:"mode"`
	Moves []Choice `json:"moves"`
}

// Choice is a move of a plan, or a round or the ending of a turn. Seed chooses its
// details.
type Choice struct {
	Move  string   `json:"move"`
	Seed  uint32   `json:"seed"`
	Inner []Choice `json:"inner,omitempty"` // of a turn: its rounds, and its ending
}

// String returns the plan on one line.
func (p Plan) String() string { return p.Mode + choiceNames(p.Moves) }

func choiceNames(list []Choice) string {
	var b strings.Builder
	for _, c := range list {
		b.WriteString(" " + c.Move)
		if len(c.Inner) > 0 {
			b.WriteString(" (" + strings.TrimSpace(choiceNames(c.Inner)) + ")")
		}
	}
	return b.String()
}

// modes are the permission modes that a scenario begins in, and how often.
var modes = []mode{{"never", 6}, {"ask", 3}, {"plan", 1}}

type mode struct {
	name   string
	weight int
}

// Fresh returns the plan with that index of a seed.
func Fresh(runtime *Ground, seed uint64, index int) Plan {
	rng := newRand("fresh", seed, uint64(index))
	modes := runtime.modesOf()
	p := Plan{Mode: modes[weighted(rng, len(modes), func(i int) int { return modes[i].weight })].name}
	for range 1 + min(rng.IntN(maxMoves), rng.IntN(maxMoves)) {
		p.Moves = append(p.Moves, newMove(rng, runtime, p.modeAfter(len(p.Moves))))
	}
	if p.Moves[0].Move != turnMove { // most other moves follow a turn
		p.Moves = slices.Insert(p.Moves, 0, newTurn(rng, runtime, p.Mode))
	}
	return p
}

// maxMoves is how many moves a new plan has at most.
const maxMoves = 5

// modeAfter returns the permission mode after the first n moves.
func (p Plan) modeAfter(n int) string {
	if slices.ContainsFunc(p.Moves[:n], func(c Choice) bool { return c.Move == askFromNowMove }) && p.Mode == "never" {
		return "ask"
	}
	return p.Mode
}

func newMove(rng *rand.Rand, runtime *Ground, mode string) Choice {
	if m := chooseMove(rng, grammar, runtime, mode); m.name != turnMove {
		return Choice{Move: m.name, Seed: rng.Uint32()}
	}
	return newTurn(rng, runtime, mode)
}

func newTurn(rng *rand.Rand, runtime *Ground, mode string) Choice {
	out := Choice{Move: turnMove}
	for range min(rng.IntN(maxRounds+1), rng.IntN(maxRounds+1)) {
		out.Inner = append(out.Inner, newInner(rng, rounds, runtime, mode))
	}
	out.Inner = append(out.Inner, newInner(rng, endings, runtime, mode))
	return out
}

func newInner(rng *rand.Rand, list []move, runtime *Ground, mode string) Choice {
	return Choice{Move: chooseMove(rng, list, runtime, mode).name, Seed: rng.Uint32()}
}

// chooseMove chooses a move by weight among those that the runtime can do in the mode.
func chooseMove(rng *rand.Rand, list []move, runtime *Ground, mode string) move {
	list = slices.DeleteFunc(slices.Clone(list), func(m move) bool { return !m.possible(runtime, mode) })
	return list[weighted(rng, len(list), func(i int) int { return list[i].weight })]
}

// weighted returns an index below n, chosen by weight.
func weighted(rng *rand.Rand, n int, weight func(i int) int) int {
	sum := 0
	for i := range n {
		sum += weight(i)
	}
	at := rng.IntN(sum)
	for i := range n {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return n - 1
}

// mutate returns a plan that differs from p in one to three places. other is a plan to
// take moves from.
func (p Plan) mutate(runtime *Ground, rng *rand.Rand, other Plan) Plan {
	out := p.clone()
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(out.Moves))
		mode := out.modeAfter(at)
		m := &out.Moves[at]
		switch n := len(m.Inner); rng.IntN(9) {
		case 0:
			out.Moves = slices.Insert(out.Moves, at, newMove(rng, runtime, mode))
		case 1:
			if len(out.Moves) > 1 {
				out.Moves = slices.Delete(out.Moves, at, at+1)
			}
		case 2:
			*m = newMove(rng, runtime, mode)
		case 3:
			if len(other.Moves) > 0 {
				out.Moves = slices.Insert(out.Moves, at, other.clone().Moves[rng.IntN(len(other.Moves))])
			}
		case 4, 5:
			if n > 0 {
				m.Inner = slices.Insert(m.Inner, rng.IntN(n), newInner(rng, rounds, runtime, mode))
			}
		case 6:
			if n > 0 {
				m.Inner[n-1] = newInner(rng, endings, runtime, mode)
			}
		case 7:
			if n > 1 {
				at := rng.IntN(n - 1)
				m.Inner = slices.Delete(m.Inner, at, at+1)
			}
		default:
			if n > 0 {
				m.Inner[rng.IntN(n)].Seed = rng.Uint32()
			} else {
				m.Seed = rng.Uint32()
			}
		}
	}
	out.Moves = out.Moves[:min(len(out.Moves), 2*maxMoves)]
	return out
}

func (p Plan) clone() Plan {
	out := Plan{p.Mode, slices.Clone(p.Moves)}
	for i := range out.Moves {
		out.Moves[i].Inner = slices.Clone(out.Moves[i].Inner)
	}
	return out
}

// Topic is the topic of the scenarios that this package composes.
const Topic = "explore"

// Compose returns the scenario of a plan for a runtime, as the text of its file. Moves
// that are not possible at their place are left out.
func (p Plan) Compose(runtime *Ground) []byte {
	c := newComposer(runtime, p.Mode)
	for _, choice := range p.Moves {
		if choice.Move == turnMove {
			c.takeTurn(choice.Inner)
		} else {
			c.play(grammar, choice)
		}
	}
	if c.messages == 0 {
		c.takeTurn(nil)
	}
	c.finishTasks()
	return c.format(p)
}

// play composes a choice, and reports whether it was possible.
func (c *composer) play(list []move, choice Choice) bool {
	i := slices.IndexFunc(list, func(m move) bool { return m.name == choice.Move })
	if i < 0 || !list[i].possible(c.runtime, c.mode) || !c.runtime.allows(list[i], c.mode, choice.Seed) || c.turns < list[i].after {
		return false
	}
	c.rng = newRand(choice.Move, uint64(choice.Seed))
	list[i].compose(c)
	return true
}

// takeTurn composes a turn: the user sends a message, the model replies in rounds, and
// the turn ends.
func (c *composer) takeTurn(inner []Choice) {
	c.rng = newRand("send", uint64(c.messages))
	c.send("send")
	ended := false
	for _, choice := range inner {
		if ended = c.play(endings, choice); ended {
			break
		}
		c.play(rounds, choice)
	}
	if !ended {
		answer(c)
	}
	if len(c.tasks) > 0 && c.chance(60) {
		c.finishTasks()
	}
}

// newRand returns a source of numbers. Sources with other names or values have nothing in
// common, which those of a PCG with nearby seeds have.
func newRand(name string, values ...uint64) *rand.Rand {
	sum := sha256.Sum256(fmt.Append(nil, name, values))
	return rand.New(rand.NewChaCha8(sum))
}

// Fingerprint identifies a scenario by what happens in it. The prose on top does not
// count.
func Fingerprint(text []byte) string {
	_, body, _ := strings.Cut(string(text), "-- scenario --")
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:8])
}

// Name returns the scenario's name of a fingerprint.
func Name(fingerprint string) string { return "scenario-" + fingerprint }

// Parse parses the text of a scenario that Compose returned.
func Parse(text []byte) (*fixtures.Scenario, error) {
	id := Topic + "/" + Name(Fingerprint(text))
	return fixtures.ParseScenario(id+".txtar", id, text)
}
