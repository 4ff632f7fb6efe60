package codex

// reads describes what a command reads, from the runtime's own analysis. A
// command is a file read if every part of it only reads, lists or searches.
type reads struct {
	is         bool
	file       string
	pattern    string
	searchPath string
}

func readsOf(actions []commandAction) (r reads) {
	r.is = len(actions) > 0
	for _, a := range actions {
		switch a.Type {
		case "read":
			if r.file == "" {
				r.file = string(a.Path)
			}
		case "listFiles":
			if r.searchPath == "" {
				r.searchPath = string(a.Path)
			}
		case "search":
			if r.pattern == "" {
				r.pattern, r.searchPath = string(a.Query), string(a.Path)
			}
		default:
			r.is = false
		}
	}
	if !r.is {
		return reads{}
	}
	return r
}
