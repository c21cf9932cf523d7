// Package wait holds a goroutine until a descriptor has something to read or a time has come, to the microsecond where the
// machine allows it: what emulators of links stand on. It reads nothing, and knows no packets.
package wait
