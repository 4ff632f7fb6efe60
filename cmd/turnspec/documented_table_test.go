package main

// how says how a documented command is run. The zero value: as typed, in an empty
// folder, with the exit code 0.
type how struct {
	files   []string          // what the page takes to be in the folder: names of provide
	after   []string          // documented commands to run before it in the same folder
	exit    int               // the exit code that the page implies
	add     string            // flags added after the subcommand, so that it takes seconds
	replace map[string]string // values of placeholders
	clone   bool              // it is run in the repository
	graph   bool              // it reads the go.mod files of all modules, which it may have to fetch
	notRun  string            // why it is only parsed
	night   bool              // it takes a processor for seconds: run if TURNSPEC_MATRIX is whole
}

// Reasons for which a command is only parsed.
const (
	needsRuntimes  = "it needs the real runtimes; .ci/run records, checks and drives them"
	needsRegistry  = "it installs from a registry; `make dist-test` and cmd/dist install the built files"
	needsNPM       = "npx downloads the agent; `make peers` runs it"
	runByCI        = "it is a step of .ci/run"
	readsTheCorpus = "it reads the whole corpus, half a minute; a script in testdata/script runs it on a part"
	measuresPage   = "it takes minutes; conformance/lab/bench/paint tests it with few events"
	takesMinutes   = "it takes minutes"
	writesTheClone = "it writes files of the repository; the test without -update runs in each `go test`"
	endsOnSignal   = "it runs until it is ended"

	testsAnApplication = "it runs the tests of the reader's application; TestScripts/model runs a program of ours"
)

// short makes a run of a program take seconds: each check with a fault takes more.
const short = "--case claude/newest/text/plain --check text.order --tier process"

// plainCase and plainCases make a run of the reference adapters take less than a second.
const (
	plainCase  = "--case codex/newest/text/plain --check text.once"
	plainCases = "--case 'codex/*/text/plain' --check text.once"
)

// smallCorpus makes a command read one scenario and its cases. TestIndexCoverage and the
// tests of package fixtures read the whole corpus, which takes half a minute.
var smallCorpus = how{files: []string{"corpus"}, add: "--corpus corpus"}

var (
	pythonAdapter  = []string{"my_adapter.py"}
	failingAdapter = []string{"my_adapter.py that fails"}
	mappedAdapter  = []string{"my_adapter.py with its own events", "my.json"}
)

// documentedTable has the commands that cannot be run as typed in an empty folder
// with the exit code 0. A command that has no row is run so.
var documentedTable = map[string]how{
	// The suite on a program or a server.
	"turnspec run":                                                     {add: "--case codex/newest/text/plain"},
	"turnspec run --exhaustive":                                        {add: plainCase},
	"turnspec run --runtime claude":                                    {add: "--case claude/newest/text/plain --check text.once"},
	"turnspec run --last-failed":                                       {after: []string{"turnspec run"}, exit: exitUsage}, // none failed
	"turnspec run --tier live --case text/plain":                       {notRun: needsRuntimes},
	"turnspec census claude":                                           {notRun: needsRuntimes},
	"turnspec census --stored --markdown":                              {night: true},
	"turnspec census codexexec --scenario text/plain --json":           {notRun: needsRuntimes},
	"turnspec census claude --fact 'argv *' --write":                   {notRun: needsRuntimes},
	"turnspec run --case 'permission/*' --check permission -v":         {add: "--runtime codex"},
	"turnspec run --runtime codex --check text.once --json":            {add: plainCase},
	"turnspec run --report junit=junit.xml --report html=report.html":  {add: plainCase},
	"turnspec run --known known.txt --shard 2/5 --report json=2.json":  {files: []string{"known.txt"}, add: "--case 'text/p*' --check text.once"},
	"turnspec run --known FILE --report html=report.html":              {files: []string{"known.txt"}, add: plainCase, replace: map[string]string{"FILE": "known.txt"}},
	"turnspec run --write-known known.txt":                             {add: plainCase},
	"turnspec run … --write-known known.txt":                           {add: plainCase, replace: map[string]string{"… ": ""}},
	"turnspec run --shard 1/2 --report json=1.json   # on one machine": {add: plainCases},
	"turnspec run --shard 2/2 --report json=2.json   # on another":     {add: plainCases},
	"turnspec merge 1.json 2.json --report junit=junit.xml --report html=report.html": {
		after: []string{"turnspec run --shard 1/2 --report json=1.json   # on one machine", "turnspec run --shard 2/2 --report json=2.json   # on another"},
	},
	"turnspec merge part-*.json": {files: []string{"part-1.json"}},
	"turnspec merge part-*.json --report junit=junit.xml --report html=report.html":             {files: []string{"part-1.json"}},
	"turnspec smoke --runtime claude -- python3 my_adapter.py":                                  {files: pythonAdapter},
	"turnspec smoke --runtime claude --case permission/allow -- python3 my_adapter.py":          {files: pythonAdapter},
	"turnspec smoke --runtime claude --case permission/allow -- CMD":                            {files: pythonAdapter, replace: map[string]string{"CMD": "python3 my_adapter.py"}},
	"turnspec run --runtime claude -- python3 my_adapter.py":                                    {files: pythonAdapter, add: short},
	"turnspec run --subject 'python3 my_adapter.py' --runtime claude@newest":                    {files: pythonAdapter, add: short},
	"turnspec debug permission/allow --runtime claude -- python3 my_adapter.py":                 {files: pythonAdapter},
	"turnspec debug claude/2.1.197/text/plain --runtime claude -- python3 my_adapter.py":        {files: pythonAdapter},
	"turnspec debug text/plain --runtime claude --subject http://127.0.0.1:0 -- node server.js": {files: []string{"server.js"}},
	"turnspec debug text/plain --runtime claude -- python3 my_adapter.py":                       {files: pythonAdapter},
	"turnspec run --runtime claude --case 'text/*' --watch -- python3 my_adapter.py":            {notRun: endsOnSignal},
	"turnspec map --from sample.jsonl --to my.json":                                             {files: []string{"sample.jsonl"}},
	"turnspec map --from sample.jsonl --json":                                                   {files: []string{"sample.jsonl"}},
	"turnspec smoke --runtime claude --dialect my.json -- python3 my_adapter.py":                {files: mappedAdapter},
	"turnspec run --runtime claude --dialect my.json -- python3 my_adapter.py":                  {files: mappedAdapter, add: short},
	"turnspec debug text/plain --runtime claude --dialect my.json -- python3 my_adapter.py":     {files: mappedAdapter},
	"turnspec run --runtime claude --level core -- python3 my_adapter.py":                       {files: pythonAdapter, add: "--case claude/newest/text/plain --tier process --fault kill"},
	"turnspec run --runtime claude --last-failed -- python3 my_adapter.py": {
		files: pythonAdapter, add: short, exit: exitUsage, after: []string{"turnspec run --runtime claude -- python3 my_adapter.py"}, // none failed
	},
	"turnspec run --full --subject 'python3 -m my_adapter' --runtime claude --known known.txt --report junit=junit.xml --report html=report.html": {
		files: []string{"my_adapter.py", "known.txt"}, add: short,
	},
	"turnspec run --full --subject 'node src/adapter.ts' --runtime codex --shard auto --report json=part-$CI_NODE_INDEX.json || [ $? -eq 1 ]": {
		notRun: "it is a line of a workflow of GitLab, for an adapter of the reader's; TestScripts/shard runs --shard auto",
	},
	"turnspec smoke --runtime claude@2.1.197 -- ./my-adapter --stdio": {files: []string{"my-adapter"}},
	"turnspec shrink CASE --check ID -o bug.zip": { // by day `turnspec run --corpus bug.zip` runs it
		add:   "--tries 2",
		night: true, files: failingAdapter, replace: map[string]string{"CASE": "claude/newest/text/plain --subject 'python3 my_adapter.py'", "ID": "text.once"},
	},
	"turnspec shrink claude/newest/text/plain --check text.once --subject 'python3 my_adapter.py' -o bug.zip": {files: failingAdapter, add: "--tries 2"},
	"turnspec shrink claude/newest/text/plain --check text.once --dialect my.json -o bug.zip -- python3 my_adapter.py": {
		files: mappedAdapter, add: "--tries 2", exit: exitUsage, // it passes the check
	},
	"turnspec run --corpus bug.zip --runtime claude --subject 'python3 my_adapter.py'": {
		files: failingAdapter, add: "--check text.once --tier process", exit: exitFailed,
		after: []string{"turnspec shrink claude/newest/text/plain --check text.once --subject 'python3 my_adapter.py' -o bug.zip"},
	},
	"turnspec shrink claude/newest/text/plain --check wire.unknown --fault unknown-message --subject acp:my-agent -o bug.zip": {notRun: "it needs an agent of the reader's that fails; conformance/lab/shrink tests faults"},
	"turnspec run --runtime claude --fail-on-flaky -- python3 my_adapter.py":                                                  {files: pythonAdapter, add: short},
	"npx turnspec smoke --runtime claude -- node conformance/plug.ts":                                                         {files: []string{"node_modules", "conformance/plug.ts"}},
	"npx turnspec run --runtime claude --subject 'node conformance/plug.ts' --case text/plain": {
		files: []string{"node_modules", "conformance/plug.ts"}, replace: map[string]string{"--case text/plain": short},
	},
	"turnspec run --runtime claude --subject 'python3 conformance/plug.py' --case text/plain": {
		files: []string{"conformance/plug.py"}, replace: map[string]string{"--case text/plain": short},
	},
	"turnspec run --runtime claude -- python3 conformance/plug.py":                                             {files: []string{"conformance/plug.py"}, add: short},
	"turnspec smoke --runtime claude -- python3 conformance/plug.py":                                           {files: []string{"conformance/plug.py"}},
	"turnspec run --runtime claude --full --write-known known.txt -- python3 my_adapter.py":                    {files: pythonAdapter, add: short},
	"turnspec run --runtime claude --full --known known.txt --report junit=junit.xml -- python3 my_adapter.py": {files: []string{"my_adapter.py", "known.txt"}, add: short},
	"turnspec smoke --runtime claude -- python3 claude.py":                                                     {files: []string{"claude.py"}},
	"turnspec run --runtime claude --subject 'python3 claude.py'":                                              {files: []string{"claude.py"}, add: short},
	"turnspec smoke --runtime claude -- node claude.ts":                                                        {files: []string{"claude.ts"}},
	"turnspec run --runtime claude --subject 'node claude.ts'":                                                 {files: []string{"claude.ts"}, add: short},
	"npx turnspec init --lang typescript":                                                                      {files: []string{"node_modules"}},
	"npx turnspec smoke --runtime claude -- node plug.ts":                                                      {files: []string{"node_modules", "plug.ts"}},
	"npx turnspec run --runtime claude --subject 'node plug.ts'":                                               {files: []string{"node_modules", "plug.ts"}, replace: map[string]string{"run ": "run " + short + " "}},
	"turnspec smoke --runtime claude -- python3 plug.py":                                                       {files: []string{"plug.py"}},
	"turnspec run --runtime claude --subject 'python3 plug.py'":                                                {files: []string{"plug.py"}, add: short},
	"turnspec smoke --runtime claude --subject http://127.0.0.1:0 -- node server.js":                           {files: []string{"server.js"}},
	"turnspec run --runtime claude --subject http://127.0.0.1:0 -- node server.js":                             {files: []string{"server.js"}, add: short},

	"turnspec run --runtime claude --subject ws://127.0.0.1:0 --dialect wsmessages -- turnspec serve --runtime claude --no-token --recover leave": {add: short},
	"turnspec run --runtime claude --subject http://127.0.0.1:0 --dialect uistream -- turnspec serve --runtime claude --no-token --recover leave": {add: short},
	"turnspec smoke --runtime claude --subject http://127.0.0.1:0 --dialect usechat -- node chat.js":                                              {files: []string{"chat.js"}},
	"turnspec run --runtime claude --subject http://127.0.0.1:0 --dialect usechat -- node chat.js":                                                {files: []string{"chat.js"}, add: short},
	`eval "$(turnspec env --runtime claude)"      # in the shell of the sidecar`:                                                                  {},
	`eval "$(turnspec env --runtime claude)" && node server.js`:                                                                                   {notRun: endsOnSignal},
	"node server.js": {notRun: endsOnSignal},
	"turnspec play opencode --case text/plain --http serve --port 4096": {notRun: endsOnSignal}, // TestServesHTTP of fakes/standin serves it
	"turnspec serve --recover leave":                                    {notRun: endsOnSignal},
	"turnspec serve":                                                    {notRun: endsOnSignal}, // TestServePrintsWhatToDo runs it
	// TestSharedLog runs servers with databases.
	"turnspec serve --runtime claude --log postgres://turnspec@db.example/chats --url https://node7.example": {notRun: endsOnSignal},

	"turnspec run --runtime claude --subject runner -- turnspec runner --runtime claude": {notRun: "it takes minutes; conformance/plug/conversation runs the runner"},
	// TestServeUsers runs one with users.
	"turnspec serve --runtime claude --tokens /etc/turnspec/tokens":                                                             {notRun: endsOnSignal},
	"turnspec serve --runtime claude --instructions-file house-rules.md --agent-files templates --project-servers":              {notRun: endsOnSignal},
	"turnspec serve --runtime claude --log chats.db --dir ~/project":                                                            {notRun: endsOnSignal},
	"turnspec serve --runtime claude --log nats://nats.example --url https://node7.example":                                     {notRun: endsOnSignal},
	"turnspec serve --runtime claude --policy policy.yaml":                                                                      {notRun: endsOnSignal},
	"turnspec serve --runtime claude --origin https://chat.example":                                                             {notRun: endsOnSignal},
	"turnspec agent --runtime codex --policy policy.yaml":                                                                       {notRun: needsRuntimes},
	"turnspec agent --runtime claude":                                                                                           {notRun: needsRuntimes},
	"turnspec agent --runtime claude --arg --allow-dangerously-skip-permissions":                                                {notRun: needsRuntimes},
	"turnspec run --runtime claude --subject acp -- turnspec agent --runtime claude --arg --allow-dangerously-skip-permissions": {add: short},
	"turnspec runner --runtime claude --cwd ~/project --permission-mode default":                                                {notRun: needsRuntimes},
	"turnspec runner --runtime codex --tool-preset read-only --resume SESSION":                                                  {notRun: needsRuntimes},
	"turnspec runner --runtime claude --tap recordings":                                                                         {notRun: needsRuntimes},
	"turnspec serve --case codex/newest/permission/allow":                                                                       {notRun: endsOnSignal},
	"turnspec serve --runtime claude --log chats.db":                                                                            {notRun: endsOnSignal},
	"turnspec serve --runtime claude --runtime codex --agents --log chats.db --dir ~/project":                                   {notRun: endsOnSignal},
	"turnspec run --runtime claude --subject http://127.0.0.1:3000      # in another":                                           {notRun: "it needs a server at that port; conformance/plug/sse tests one that runs already"},
	"turnspec run --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp":                                       {notRun: needsNPM},
	"turnspec smoke --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp":                                     {notRun: needsNPM},
	"turnspec bench --runtime codex --subject acp -- npx -y @agentclientprotocol/codex-acp":                                     {notRun: needsNPM},
	"turnspec explore --runtime codex --for 1h --subject acp -- npx -y @agentclientprotocol/codex-acp":                          {notRun: needsNPM},

	// Files of the reader's.
	"turnspec explain CHECK":           {replace: map[string]string{"CHECK": "text.once"}},
	"turnspec show CASE":               {replace: map[string]string{"CASE": "codex/newest/text/plain"}},
	"turnspec show imported.txtar":     {files: []string{"imported.txtar"}},
	"turnspec show session.txtar":      {files: []string{"session.txtar"}},
	"turnspec model text/plain":        {notRun: endsOnSignal},
	"turnspec model text/plain --json": {notRun: endsOnSignal},
	"turnspec model --script turns.txtar --runtime codex --home ./home --listen 127.0.0.1:8790":                                     {notRun: endsOnSignal},
	"turnspec model --script turns.txtar -- npm test":                                                                               {notRun: testsAnApplication},
	"turnspec model --script turns.txtar --witness witness.jsonl -- npm test":                                                       {notRun: testsAnApplication},
	"turnspec model tool/reads-a-file --runtime claude --dir . --witness witness.jsonl -- claude -p 'Read the list.'":               {notRun: needsRuntimes},
	"turnspec model --script turns.txtar --runtime claude -- claude -p 'Make the file.' --dangerously-skip-permissions":             {notRun: needsRuntimes},
	"turnspec model --script turns.txtar --runtime codex -- codex exec --dangerously-bypass-approvals-and-sandbox 'Make the file.'": {notRun: needsRuntimes},
	"go doc github.com/turnspec/turnspec/fakes/model":                                                                               {clone: true, graph: true},
	"turnspec play claude --case session.txtar":                                                                                     {files: []string{"session.txtar"}},
	"turnspec run --case session.txtar":                                                                                             {files: []string{"session.txtar"}, add: "--check text.once"},
	"turnspec import FILE":                                                                                                          {files: []string{"session.jsonl"}, replace: map[string]string{"FILE": "session.jsonl"}},
	"turnspec import session.jsonl --out session.txtar":                                                                             {files: []string{"session.jsonl"}},
	"turnspec shrink session.txtar --check turn.one-terminal -o bug.zip -- python3 my_adapter.py": {
		files: []string{"session.jsonl", "my_adapter.py"}, add: "--tries 2", exit: exitUsage, // it passes the check
		after: []string{"turnspec import session.jsonl --out session.txtar"},
	},
	"turnspec tap --to recordings -- claude -p --input-format stream-json --output-format stream-json --verbose": {notRun: needsRuntimes},
	"turnspec tap --to ~/recordings -- /usr/local/bin/codex app-server":                                          {notRun: needsRuntimes},
	"turnspec import recordings/20261129T101500.000Z-claude-4711.jsonl --out session.txtar": {
		files: []string{"session.jsonl"}, replace: map[string]string{"recordings/20261129T101500.000Z-claude-4711.jsonl": "session.jsonl"},
	},
	"turnspec import --runtime codex@0.120.0 - <wire.jsonl":                         {files: []string{"wire.jsonl"}},
	"turnspec normalize claude FILE":                                                {files: []string{"transcript.jsonl"}, replace: map[string]string{"FILE": "transcript.jsonl"}},
	"turnspec normalize claude transcript.jsonl":                                    {files: []string{"transcript.jsonl"}},
	"turnspec normalize codex wire.jsonl | turnspec chat":                           {files: []string{"wire.jsonl"}},
	"turnspec normalize claude transcript.jsonl | turnspec chat":                    {files: []string{"transcript.jsonl"}},
	"turnspec normalize claude transcript.jsonl | turnspec log append chats.db":     {files: []string{"transcript.jsonl"}},
	"turnspec normalize codex wire.jsonl | turnspec log append chats.db":            {files: []string{"wire.jsonl"}},
	"turnspec emit uistream --log FILE":                                             {files: []string{"chats.db"}, replace: map[string]string{"FILE": "chats.db"}},
	"turnspec emit DIALECT CASE":                                                    {replace: map[string]string{"DIALECT": "uistream", "CASE": "codex/newest/text/plain"}},
	"turnspec emit acp CASE":                                                        {replace: map[string]string{"CASE": "codex/newest/text/plain"}},
	"turnspec emit runner CASE":                                                     {replace: map[string]string{"CASE": "codex/newest/text/plain"}},
	"turnspec emit uistream --log chats.db s1":                                      {files: []string{"chats.db"}},
	"turnspec normalize claude transcript.jsonl | turnspec emit uistream":           {files: []string{"transcript.jsonl"}},
	"turnspec chat FILE":                                                            {files: []string{"events.jsonl"}, replace: map[string]string{"FILE": "events.jsonl"}},
	"turnspec chat --log FILE":                                                      {files: []string{"chats.db"}, replace: map[string]string{"FILE": "chats.db"}},
	"turnspec chat events.jsonl":                                                    {files: []string{"events.jsonl"}},
	"turnspec chat --full events.jsonl":                                             {files: []string{"events.jsonl"}},
	"turnspec chat --json events.jsonl":                                             {files: []string{"events.jsonl"}},
	"turnspec chat --log chats.db s1":                                               {files: []string{"chats.db"}},
	"turnspec chat --html chat.html events.jsonl":                                   {files: []string{"events.jsonl"}},
	"turnspec log append chats.db events.jsonl":                                     {files: []string{"events.jsonl"}},
	"turnspec log append FILE":                                                      {files: []string{"events.jsonl"}, replace: map[string]string{"FILE": "chats.db <events.jsonl"}},
	"turnspec log ls FILE":                                                          {files: []string{"chats.db"}, replace: map[string]string{"FILE": "chats.db"}},
	"turnspec log ls chats.db":                                                      {files: []string{"chats.db"}},
	"turnspec log ls chats.db --json":                                               {files: []string{"chats.db"}},
	"turnspec log media chats.db":                                                   {files: []string{"chats.db with an image"}},
	"turnspec log media FILE":                                                       {files: []string{"chats.db"}, replace: map[string]string{"FILE": "chats.db"}},
	"turnspec log media chats.db s1 --json":                                         {files: []string{"chats.db with an image"}},
	"turnspec log media chats.db s1 4977 > dot.png":                                 {files: []string{"chats.db with an image"}},
	"turnspec log media chats.db s1 --to images":                                    {files: []string{"chats.db with an image"}},
	"turnspec log show chats.db":                                                    {files: []string{"chats.db"}},
	"turnspec log show chats.db s1 --after 40":                                      {files: []string{"chats.db"}},
	"turnspec log show chats.db s1 --json | turnspec chat":                          {files: []string{"chats.db"}},
	"turnspec log follow chats.db s1 --forever":                                     {notRun: endsOnSignal},
	"turnspec log follow FILE":                                                      {notRun: endsOnSignal},
	"turnspec log follow chats.db":                                                  {notRun: endsOnSignal},
	"turnspec log follow chats.db s1 --json":                                        {notRun: endsOnSignal},
	"turnspec log follow chats.db s1 --after 40 --json":                             {notRun: endsOnSignal},
	"turnspec policy check policy.yaml":                                             {files: []string{"policy.yaml"}},
	"turnspec policy explain 'git status; sudo ls'":                                 {exit: exitFailed}, // it denies
	"turnspec policy explain 'cat a.txt | sort -o b.txt'":                           {exit: exitFailed},
	"turnspec policy explain --mode implementation 'git status && rm -rf build'":    {},
	"turnspec policy explain --tool Write --input '{\"file_path\":\"/etc/hosts\"}'": {exit: exitFailed},
	"turnspec policy explain --rules policy.yaml --json 'git push'":                 {files: []string{"policy.yaml"}, exit: exitFailed},
	"turnspec agents list --runtime codex --json ../service":                        {files: []string{"../service"}},
	"turnspec agents prepare --runtime claude --from templates":                     {files: []string{"templates"}},
	"turnspec agents prepare --runtime claude --from templates/claude":              {files: []string{"templates"}},
	"turnspec agents prepare --runtime codex --from templates/codex ../service":     {files: []string{"templates", "../service"}},

	// Measurements.
	"turnspec bench": {notRun: takesMinutes},
	"turnspec bench                                          # the reference adapters: some minutes":                {notRun: takesMinutes},
	"turnspec bench --runtime claude --load stream --gate 'added-p99<=2x raw'":                                      {notRun: "its verdict depends on how busy the machine is"},
	"turnspec bench --load stream --gate 'added-p99<=2x raw'  # in CI":                                              {notRun: "its verdict depends on how busy the machine is"},
	"turnspec bench --runtime claude -- python3 my_adapter.py":                                                      {files: pythonAdapter, add: quick},
	"turnspec bench --runtime claude --dialect my.json -- python3 my_adapter.py":                                    {files: mappedAdapter, add: quick},
	"turnspec bench --runtime claude --subject http://127.0.0.1:0 -- node server.js":                                {files: []string{"server.js"}, add: quick},
	"turnspec bench --sessions 50,200,400 --rate 50":                                                                {notRun: takesMinutes},
	"turnspec bench --sessions 500,2000 --share 50 --rate 50":                                                       {notRun: takesMinutes},
	"turnspec bench --json > new.json && turnspec bench compare old.json new.json":                                  {files: []string{"old.json"}, add: quick},
	"turnspec show CASE --html FILE":                                                                                {replace: map[string]string{"CASE": "claude/newest/text/plain", "FILE": "page.html"}},
	"turnspec chat --html FILE":                                                                                     {files: []string{"events.jsonl"}, replace: map[string]string{"FILE": "page.html events.jsonl"}},
	"turnspec bench page":                                                                                           {notRun: measuresPage},
	"turnspec bench page --repeat 11 --gate 'painted<=1.5x dom'":                                                    {notRun: measuresPage},
	"turnspec bench page --events 1000,100000 --json":                                                               {notRun: measuresPage},
	"make usechat && turnspec bench page --usechat .tmp/usechat/usechat.js":                                         {notRun: measuresPage},
	"turnspec bench compare old.json new.json":                                                                      {files: []string{"old.json", "new.json"}},
	"turnspec bench show new.json":                                                                                  {files: []string{"new.json"}},
	"turnspec bench show --markdown new.json sessions.json > results.md":                                            {files: []string{"new.json", "sessions.json"}},
	"turnspec bench show --html new.html new.json":                                                                  {files: []string{"new.json"}},
	"turnspec bench curves":                                                                                         {notRun: takesMinutes},
	"turnspec bench curves turns events --most 10000":                                                               {add: "--runtime codex", replace: map[string]string{"--most 10000": "--most 1000"}},
	"turnspec bench curves deltas --runtime claude --json":                                                          {add: "--most 1000"},
	"ulimit -n 16384 && turnspec bench curves --markdown":                                                           {notRun: takesMinutes},
	"turnspec bench --repeat 4 --gate targets":                                                                      {notRun: takesMinutes},
	"turnspec bench --runtime codex --repeat 4 --gate targets --html codex.html":                                    {notRun: takesMinutes},
	"turnspec bench --runtime codex --repeat 5 --control raw --sessions 200,400 --rate 50 --deltas 200":             {notRun: takesMinutes},
	"turnspec bench --runtime codex --repeat 5 --control raw --sessions 500,2000 --share 50 --rate 50 --deltas 200": {notRun: takesMinutes},
	"make bench > old.txt      # then change something":                                                             {notRun: takesMinutes},
	"make bench > new.txt && go run golang.org/x/perf/cmd/benchstat@latest old.txt new.txt":                         {notRun: takesMinutes},
	"make bench-page": {notRun: takesMinutes},
	"turnspec bench server --sessions 1000 --listeners 5 --rate 2 --for 30s --idle 10000": {notRun: takesMinutes},
	"turnspec bench server --idle 0 --repeat 5 --max-ratio 2":                             {notRun: takesMinutes},
	"ulimit -n 16384 && turnspec bench server":                                            {notRun: takesMinutes},

	// The corpus.
	"turnspec coverage":                                           smallCorpus,
	"turnspec coverage pi --scenarios cannot":                     smallCorpus,
	"turnspec coverage opencode --scenarios not-recorded":         smallCorpus,
	"turnspec coverage codex --never messages":                    smallCorpus,
	"turnspec coverage --never messages":                          smallCorpus,
	"turnspec coverage claude --undeclared":                       smallCorpus,
	"turnspec coverage --ignored-but-seen":                        smallCorpus,
	"turnspec coverage --json":                                    smallCorpus,
	"turnspec lint":                                               smallCorpus,
	"turnspec list cases --json":                                  smallCorpus,
	"turnspec lint --corpus fixtures --json":                      {notRun: readsTheCorpus},
	"turnspec lint fixtures/codex/0.120.0/text/plain.txtar":       {clone: true},
	"turnspec update":                                             {notRun: writesTheClone},
	"turnspec update 'permission/*'":                              {notRun: writesTheClone},
	"turnspec update permission/allow":                            {notRun: writesTheClone},
	"turnspec update <topic>/<what-happens>":                      {notRun: writesTheClone},
	"turnspec update --corpus ./fixtures codex/newest/text/plain": {night: true, clone: true, add: "--places 1"},
	"turnspec update my/claude/2.1.197/text/plain.txtar":          {night: true, files: []string{"my"}, add: "--places 1"},
	"turnspec record permission/allow":                            {notRun: needsRuntimes},
	"turnspec record <topic>/<what-happens>":                      {notRun: needsRuntimes},
	"turnspec record --all --runtime NAME":                        {notRun: needsRuntimes},
	"turnspec record --lifecycle":                                 {notRun: needsRuntimes},
	"turnspec record --live":                                      {notRun: needsRuntimes},
	"turnspec record FILE":                                        {notRun: needsRuntimes},
	"turnspec record --runtime codex ~/my-scenario.txtar":         {notRun: needsRuntimes},
	"turnspec record --check":                                     {notRun: needsRuntimes},
	"turnspec record --all":                                       {notRun: needsRuntimes},
	"turnspec record --live --out session.txtar -- claude -p --output-format stream-json --verbose \"Hello\"": {notRun: needsRuntimes},
	"turnspec drift codex": {notRun: needsRegistry},
	"turnspec drift codex --from 0.98.0 --to 0.120.0 --stored":         {notRun: readsTheCorpus},
	"turnspec drift claude --from 2.1.197 --to newest --stored --json": {notRun: readsTheCorpus},
	"turnspec schema codex":                                                                   {notRun: needsRuntimes},
	"turnspec drift codex --to latest":                                                        {notRun: needsRuntimes},
	"turnspec drift codex --from 0.98.0 --to 0.120.0 --all":                                   {notRun: needsRuntimes},
	"turnspec drift claude --to ./claude --markdown":                                          {notRun: needsRuntimes},
	"turnspec explore --runtime codex --for 10m":                                              {notRun: needsRuntimes},
	"turnspec explore --runtime claude --seed 7 --count 50 --dir found":                       {notRun: needsRuntimes},
	"turnspec runtimes install":                                                               {notRun: needsRegistry},
	"turnspec runtimes install codex":                                                         {notRun: needsRegistry},
	"turnspec runtimes install --all":                                                         {notRun: needsRegistry},
	"turnspec runtimes install codex@0.98.0 --dir ./runtimes":                                 {notRun: needsRegistry},
	"turnspec schema claude@2.1.197 --write":                                                  {notRun: writesTheClone},
	"turnspec schema --check":                                                                 {notRun: needsRuntimes},
	"claude -p --output-format stream-json --verbose 'Say hello' | turnspec normalize claude": {notRun: needsRuntimes},

	// Installing, and the clone.
	"git clone https://github.com/turnspec/turnspec && cd turnspec":            {notRun: "it needs the network"},
	"go test ./conformance/internal/broken -run 'TestMatrix/of/NAME$' -update": {notRun: writesTheClone},
	"go run ./cmd/turnspec pack":                                               {night: true, clone: true},
	"turnspec pack":                                                            smallCorpus,
	"go run ./cmd/turnspec demo":                                               {clone: true},
	"go run ./cmd/turnspec run":                                                {notRun: runByCI},
	"go test ./...":                                                            {notRun: runByCI},
	"go test ./adapters/backend/dialect -run TestEachCase -update":             {notRun: writesTheClone},
	"go test ./adapters/backend/runner/message ./adapters/backend/acpagent -run TestEachCase -update": {notRun: writesTheClone},
	"go test ./adapters/backend/page":                                                                                  {notRun: runByCI},
	"go doc ./fixtures":                                                                                                {clone: true},
	"go doc github.com/turnspec/turnspec/adapters/backend/replay":                                                      {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/conformance/lab/explore":                                                      {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/adapters/backend/sidecar":                                                     {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/adapters/backend/acpagent":                                                    {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/adapters/backend/dialect/internal/wsmessages":                                 {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/adapters/backend/runner":                                                      {clone: true, graph: true},
	"go doc ./adapters/event":                                                                                          {clone: true},
	"go doc ./adapters/backend/policy":                                                                                 {clone: true},
	"go doc ./adapters/backend/dialect":                                                                                {clone: true},
	"go test ./adapters/backend/policy -run TestCorpus -v":                                                             {notRun: runByCI},
	"go test ./adapters/backend/policy -run TestControlFiles -update":                                                  {notRun: writesTheClone},
	"go test ./adapters/backend/dialect":                                                                               {notRun: runByCI},
	"go test ./adapters/backend/dialect -run TestGoldens -update":                                                      {notRun: writesTheClone},
	"go doc github.com/turnspec/turnspec/conformance/plug/mapping":                                                     {clone: true, graph: true},
	"go doc github.com/turnspec/turnspec/adapters/event":                                                               {clone: true, graph: true},
	"go build -o bin/turnspec ./cmd/turnspec":                                                                          {notRun: "it is run before `TURNSPEC_CASE=codex/newest/text/plain bin/codex --version`"},
	"ln -sf turnspec bin/codex":                                                                                        {after: []string{"mkdir -p bin"}},
	"TURNSPEC_CASE=codex/newest/text/plain bin/codex --version":                                                        {night: true, clone: true, after: []string{"mkdir -p bin", "go build -o bin/turnspec ./cmd/turnspec", "ln -sf turnspec bin/codex"}},
	`ln -s "$(command -v turnspec)" bin/codex && TURNSPEC_CASE=codex/newest/text/plain PATH=$PWD/bin:$PATH my-adapter`: {files: []string{"bin/my-adapter"}},
	"go install ./cmd/turnspec":                                                                                        {notRun: "it writes to the folder of installed programs; `go build` of the same package is run"},
	"pip install turnspec==1.2.3 # or: npm install --save-dev turnspec@1.2.3":                                          {notRun: needsRegistry},
	"pip install -e .":  {notRun: "it is a line of a workflow, for an adapter of the reader's"},
	"npm ci":            {notRun: "it is a line of a workflow, for an adapter of the reader's"},
	"make runtimes":     {notRun: runByCI},
	"make live":         {notRun: needsRuntimes},
	"make record-check": {notRun: needsRuntimes},
	"npm install --save-dev turnspec @turnspec/plug && npx turnspec init --lang typescript": {notRun: needsRegistry},
	"pip install turnspec turnspec-plug && turnspec init --lang python":                     {notRun: needsRegistry},
	"go mod edit -replace github.com/turnspec/turnspec=../turnspec":                         {files: []string{"go.mod"}},
	"go mod tidy": {notRun: "it is a command of the reader's module; `go mod tidy && go test -v` is run"},
	"go mod edit -replace github.com/turnspec/turnspec=../turnspec && go mod tidy && go test ./conformance": {notRun: takesMinutes},
	"go mod tidy && go test -v": {
		night: true,
		files: []string{"adapter_test.go", "../turnspec"}, graph: true,
		after: []string{"go mod init example.com/mine && go mod edit -replace github.com/turnspec/turnspec=../turnspec"},
	},
	"go test ./conformance/plug/mapping ./conformance/plug/jsonl -update": {notRun: writesTheClone},
	"go generate ./adapters/event":                                        {notRun: writesTheClone},
	"go test -run TestConformance/permission":                             {notRun: "it is run in the reader's module; conformance/suite tests the names of subtests"},
	"go test ./cmd/turnspec -run TestStableNames -update":                 {notRun: writesTheClone},
	"go test ./cmd/turnspec -run TestIndexCoverage -update":               {notRun: writesTheClone},
	"go test ./conformance/plug/jsonl -run TestTypes -update":             {notRun: writesTheClone},
	"turnspec facts --sweep":                                              {notRun: "it takes minutes; conformance/lab/facts tests it with few cases"},
	"turnspec facts --sweep --case 'codex/*/tool'":                        {night: true, add: "--every 8"},
	"turnspec facts --sweep --written --case 'codex/*/stop'":              {night: true, add: "--every 8"},
	"turnspec coverage claude --values --json":                            {night: true},
	"turnspec facts --sweep --every 40 done.reason --json":                {night: true},
	"turnspec coverage --values":                                          {night: true, add: "pi"},
	"turnspec facts --sweep --every 10":                                   {notRun: "it takes a minute; conformance/lab/facts tests it with few cases"},
}

// quick makes a measurement take seconds.
const quick = "--load slow --deltas 5 --rate 500 --slow 1ms --repeat 1 --control raw"
