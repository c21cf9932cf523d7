// Package demo plays the demonstration: the case of Bob and Carol, whose transfer is slow, and a mesh to look at. Both run on this
// machine alone, in labs that end with them.
//
//	Case  a lab of two hosts: transfer, diagnosis, what cures it, once more  ->  a Round each, and a table of them
//	Mesh  a lab of twelve hosts, a made-up day before now, their agents, a controller outside  ->  pages, until it is ended
//
// The package measures, diagnoses and serves nothing itself: it runs commands of the program that it is part of on the hosts of its
// labs, as anyone would, and what they find is what it shows. How such a command is run, how a mesh file is served and how things are
// said, that program passes to it as functions. It reads no flags and no files of the user's, and leaves nothing behind.
package demo

// Screen is where a demonstration says what goes on. A program that shows nothing has functions that do nothing.
type Screen struct {
	Say      func(format string, args ...any) // prints a line on the way to the outcome
	Progress func(format string, args ...any) // shows what goes on now, in place of what it showed before; "" clears it
	Ticking  func(what string) (ended func()) // shows what goes on now and for how many seconds, until ended is called
}
