// Package spool keeps what an agent must not forget: which runs it began, and their Results until the archive has them.
//
// It stores and recovers; it measures nothing, and package agent delivers. Everything goes to one log, a folder of
// segment files that are only ever appended to and that one process writes:
//
//	segment 0000000000000007.log:  frame frame frame …
//	frame:  magic 4 | length of body 4 | CRC32C of length, kind and body 4 | kind 1 | body       numbers little-endian
//	kinds:  begun   ULID, JSON of the measure.Run without its secret
//	        result  ULID, JSON of the measure.Result, compressed (S2)
//	        filed   ULIDs that the archive has
//	        mark    JSON of a Mark: how far into its plan the agent has come
//
// A run is begun (Begin), ends in a Result (Put), which is delivered (Due, Sent) until it is filed (Filed). What was
// written survives the end of the process; what Commit returned nil for survives the end of power. A frame that is torn or
// damaged is lost alone: reading goes on at the next magic whose frame is whole.
//
// Segments go oldest first, never out of order, so that a frame never outlives the one that revokes it. What still counts
// in an old one is copied to the end of the log when most of the log no longer counts.
package spool
