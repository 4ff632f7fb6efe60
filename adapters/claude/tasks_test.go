package claude

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// Tasks without a tool are independent of each other.
func TestTasksWithoutAToolAreIndependent(t *testing.T) {
	var tasks []string
	n := NewNormalizer("s", func(e event.Event) {
		if d, ok := e.Data.(event.Task); ok {
			tasks = append(tasks, d.TaskID+" "+string(d.Status))
		}
	})
	for line := range strings.SplitSeq(`{"type":"system","subtype":"init","session_id":"S","model":"x"}
{"type":"system","subtype":"task_started","task_id":"k1","description":"one","is_backgrounded":true,"task_type":"local_bash","session_id":"S"}
{"type":"system","subtype":"task_started","task_id":"k2","description":"two","is_backgrounded":true,"task_type":"local_bash","session_id":"S"}
{"type":"system","subtype":"task_notification","task_id":"k1","status":"completed","session_id":"S"}
{"type":"system","subtype":"task_notification","task_id":"k2","status":"completed","session_id":"S"}`, "\n") {
		n.Line(time.Unix(0, 0), []byte(line))
	}
	gomega.NewWithT(t).Expect(tasks).To(gomega.Equal([]string{"k1 running", "k2 running", "k1 completed", "k2 completed"}))
}
