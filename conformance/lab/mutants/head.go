package main

// head is the beginning of the page.
const head = `# What the suite does not see

` + "`make mutants`" + ` writes this page. It changes the adapters in small ways, one at a time, and runs the suite on each change. A change that no check of
severity MUST reports is a gap of the suite. All mutants are compiled into one program and turned on by a switch, so that each one costs a few
runs of a case and no build.

| operator | what it changes |
|---|---|
| arithmetic, assignment, increment | + and -, * and /, % and *; += and -=; ++ and -- |
| boundary | < and <=, > and >= |
| bool | true and false |
| case | a string that a switch matches becomes one that never occurs |
| logical | && and \|\| |
| member | a member of a struct literal is left out |
| negate | a condition is negated |
| statement | an assignment, call, defer, send, return without value, break or continue is left out |

*Unreached* mutants are reached by no case, with or without faults: errors of wrong options, functions that the suite does not call, strings that no
recording has. *Killed* mutants fail a check in some case, or differ from the stored events and chat in one; *by goldens only* are those of them that fail no check in the cases to which
they are played. Of the survivors, *the same* are those that no test could kill: the changed code has the same results, or has them later. *Unit tests kill*
counts those that not the suite, but the adapters' own tests kill (tried with ` + "`ARGS='--units .'`" + `; - if not tried). The last column excludes unreached mutants and those that are the same. Each mutant
is played to a selection of the cases that reach it, so the whole suite kills at least as many.

`
