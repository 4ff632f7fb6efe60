package runner

// Unexported functions that tests call.
var (
	Spread  = spread
	Take    = shardJobs
	JobCost = jobCost
)
