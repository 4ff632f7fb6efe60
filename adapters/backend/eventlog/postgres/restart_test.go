package postgres_test

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/postgres"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/testserver"
)

// The server is restarted, and crashes, in the middle of a turn.
func TestRestart(t *testing.T) {
	server := testserver.StartPostgres(t)
	url := server.NewSchema()
	stops := []func(){server.Stop, server.Kill}
	logtest.RunRestart(t, logtest.Restartable{
		Open: func() (eventlog.Log, error) { return postgres.Open(t.Context(), url, postgres.Options{}) },
		Restart: func() {
			stops[0]()
			stops = append(stops[1:], stops[0])
			server.Start()
		},
	})
}
