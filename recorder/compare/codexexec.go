package compare

// codexExec returns the stream of a line of `codex exec --json`. Items have no
// ids but their number, and the runtime says them one after the other.
func (n *normalizer) codexExec(t *tree, _ bool, _, _ int) string {
	if id := t.str("item", "id"); id != "" {
		return "item " + id
	}
	return "turn"
}
