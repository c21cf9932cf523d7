// Package probe makes measurements: one parameter struct a method, whose Do sends real packets and returns one
// measure.Result.
//
// It plans what to send, sends it, and reduces what came back to metrics. It schedules nothing across measurements,
// stores nothing, prints nothing and draws no conclusions; that is for packages schedule, archive, cmd/pathwise and
// diagnose. What is sent when, and what the answers add up to, are pure functions; only the files that end in _linux.go
// touch sockets.
//
// Loss is data: a target that never answers gives a Result with a loss ratio of 1 and no error. Failing to send is an
// error. When ctx ends, Do returns what was measured so far and the error.
package probe
