//go:build race

package schedule

// raced says that the race detector slows everything tenfold.
const raced = true
