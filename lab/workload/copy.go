package workload

import (
	"context"
	"flag"
	"fmt"
	"time"
)

// A file on the wire: how long it is and how much the receiver takes before it acknowledges, then the file. The receiver
// sends a byte for each such part that it has written to its disk, and one for a last part that is shorter. With a
// window, no more than that is under way unacknowledged, however large TCP's own window is.
//
//	 0                       8                       16
//	+-----------------------+-----------------------+------ - - - -----+
//	| bytes of the file     | bytes of a part       | the file         |     integers in network byte order
//	+-----------------------+-----------------------+------ - - - -----+
//
// Copy is a program that moves a file so: an scp, or a file system over the network.
type copier struct {
	*options
	receive            bool
	port               int
	bytes, block, part *sizeValue
	window             *sizeValue
	disk               *rateValue
	seek               *spanValue
}

func runCopy(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	c := copier{options: optionFlags(f)}
	f.BoolVar(&c.receive, "receive", false, "receive, on a port, in place of sending")
	f.IntVar(&c.port, "port", 5004, "port to listen on, with receive")
	c.bytes = sizeFlag(f, "n", 4<<20, "bytes of the file")
	c.block = sizeFlag(f, "block", 64<<10, "bytes of each read from or write to the disk")
	c.window = sizeFlag(f, "window", 0, "bytes that may be under way unacknowledged by the program; 0: any")
	c.part = sizeFlag(f, "part", 0, "bytes that the program acknowledges at once; 0: the window, or the file")
	c.disk = rateFlag(f, "disk", "how fast the disk is")
	c.seek = spanFlag(f, "seek", 0, "time that the disk takes to find each block")
	names := []string{"HOST:PORT"}
	if receiving(args) {
		names = nil
	}
	plain, err := parse(f, args, names...)
	if err != nil {
		return nil, err
	}
	if *c.block < 1 || *c.block > 1<<20 || *c.bytes < 1 || *c.bytes > 1<<32 {
		return nil, &InputError{fmt.Sprintf("copy: block, n: %d, %d: want 1 to 1048576 and 1 to 4294967296 bytes", *c.block, *c.bytes)}
	}
	if *c.window > 0 && *c.part > *c.window { // no part would ever be whole, and so none acknowledged
		return nil, &InputError{fmt.Sprintf("copy: part: %d: want no more than the window, %d bytes", *c.part, *c.window)}
	}
	if c.receive {
		return c.listenAndTake(ctx)
	}
	conn, took, err := c.dial(ctx, plain[0])
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	t := &Transfer{Role: "copy", ConnectSeconds: took.Seconds()}
	began, cpu := time.Now(), processorTime()
	kernel := watch(conn)
	if err := c.give(ctx, conn, t); err != nil && ctx.Err() == nil {
		t.Error = err.Error()
	}
	t.Connection = kernel.stop()
	t.finish(began, cpu)
	return t, nil
}

// receiving looks for the flag that decides how many arguments there are.
func receiving(args []string) bool {
	for _, a := range args {
		if a == "-receive" || a == "--receive" {
			return true
		}
	}
	return false
}
