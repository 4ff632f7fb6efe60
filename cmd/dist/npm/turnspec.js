#!/usr/bin/env node
// Starts the program turnspec of the package for this platform, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@turnspec/${process.platform}-${process.arch}`;
let program = process.env.TURNSPEC_BINARY;
if (!program) {
  try {
    program = require.resolve(`${name}/bin/turnspec${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(`turnspec: the package ${name} is not installed.
Install without --omit=optional, and on the platform on which it will run. Other ways to
install turnspec: https://github.com/turnspec/turnspec#install`);
    process.exit(2);
  }
}

// A terminal sends ^C to both; the program decides what to do with it. Other signals
// are sent to this process only, so they are passed on.
let child;
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

// A file descriptor that an option names, as /dev/fd/3, is for the program.
const stdio = ["inherit", "inherit", "inherit"];
for (const word of process.argv) {
  const fd = Number(/^\/dev\/fd\/(\d+)$/.exec(word)?.[1]);
  if (fd > 2) {
    while (stdio.length < fd) stdio.push("ignore");
    stdio[fd] = fd;
  }
}
child = spawn(program, process.argv.slice(2), { stdio });
child.on("error", (err) => {
  console.error(`turnspec: ${err.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
