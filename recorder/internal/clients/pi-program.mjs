// Starts the program of the plan in the place of Pi's script, which a client of Pi starts
// with node.
import { spawn } from "node:child_process";

const program = spawn(process.env.TURNSPEC_PROGRAM, process.argv.slice(2), { stdio: "inherit" });
for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => program.kill(name));
program.on("exit", (code, signal) => process.exit(signal ? 1 : code));
