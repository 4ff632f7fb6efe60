package conformance

// Probe is what a session's plug found out with requests of its own, such as a second
// listener or a request that is sent twice. A check of the server topic judges it.
type Probe struct {
	Name       string // server.resume, say: the id of the check
	Assertions int    // how many answers or events were compared
	Problems   []string
}

// Prober is a Session that probes its subject.
type Prober interface {
	// Probes is called after the session has ended. It returns a probe for each check of
	// the topic, without assertions if the subject does not support it.
	Probes() []Probe
}
