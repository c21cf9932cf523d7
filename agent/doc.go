// Package agent is a host of a mesh: it does what the controller tells it, within what its owner allows.
//
// It holds the plan and begins each run at its time, whether the controller is there or not; opens what other hosts' runs
// need, for as long as they need it; keeps every Result until the archive has it; and says what it cannot do. It plans
// nothing, knows no other host, and decides nothing but by its owner's policy (agent/policy). Measuring is done by package
// probe, keeping by agent/spool, carrying by package fleet.
//
// A run of the plan, and how it ends in exactly one Result with the run's ID:
//
//	planned --two seconds before its start--> noted on disk --start--> waiting for room --> running --> Result
//	   |                                          |                        |                  |
//	   | found after its slot                     | found after a restart  | slot over        | limit, cancelled, agent stopped:
//	   v                                          v                        v                  v partial, or failed
//	failed: missed                     failed: stopped while it ran     failed: no room     Result
//
// A plan that comes to its end before a newer one comes is repeated, moved by its length, again and again. Which repetition it
// is, and the IDs and secrets in it, follow from the plan and the time alone, so that hosts which cannot speak to each other
// still agree (series.go). What was carried over into the plan from another one is not repeated.
//
// Four goroutines share the work, all owned by Run: keep puts on disk what happened and notes what is due, once a second, in
// one write for all; start begins what is noted when its time comes; deliver hands Results over until they are filed; report
// sends the status. Each run under way and each opening has one more.
//
// Starts are by the wall clock, since several hosts must agree on them; how long something may take is by a clock that
// nobody steps. So a clock that jumps makes runs missed, or late, but neither brings them all at once nor repeats them.
package agent
