package main

// head is the page before its figures.
const head = `# What the suite does not see

` + "`make mutants`" + ` writes this page. It changes the adapters in small ways, one at a time, and lets the suite play the corpus to each: a change that no
check of severity MUST objects to shows where the suite looks away. All mutants are compiled into one program and turned on by a switch, so that each
costs a few plays and no build.

| operator | what it changes |
|---|---|
| arithmetic, assignment, increment | + and -, * and /, % and *; += and -=; ++ and -- |
| boundary | < and <=, > and >= |
| bool | true and false |
| case | a word that a switch matches becomes one that nobody says |
| logical | && and \|\| |
| member | a member of a struct that is built is left out |
| negate | a condition becomes its contrary |
| statement | an assignment, call, defer, send, return without value, break or continue is left out |

*Unreached* is what no case comes by, with or without faults: the errors of wrong options, functions that the suite does not call, a word that is in no
recording. *Killed* is what fails a check in some case; *by goldens alone* are those of them of which, in the first case that failed, no check but the comparison with the stored events
and chat told. Of the survivors *the same* are those that no test could kill: the changed code does what it did, or does it slower. *Unit tests kill*
counts those that the suite does not kill and the adapters' own tests do (tried with ` + "`ARGS='--units .'`" + `; - where they were not). The last column leaves out what is unreached and what is the same. Each mutant
is played to a choice of the cases that reach it, so the suite as a whole kills at least as many.

`
