package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
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
		return nil, input.Errorf("copy: block, n: %d, %d: want 1 to 1048576 and 1 to 4294967296 bytes", *c.block, *c.bytes)
	}
	if *c.window > 0 && *c.part > *c.window { // no part would ever be whole, and so none acknowledged
		return nil, input.Errorf("copy: part: %d: want no more than the window, %d bytes", *c.part, *c.window)
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
	return slices.Contains(args, "-receive") || slices.Contains(args, "--receive")
}

const fileHeaderBytes = 16

func (c *copier) listenAndTake(ctx context.Context) (any, error) {
	l, err := c.listen(ctx, c.port)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	t := &Transfer{Role: "copy"}
	conn, err := c.accept(ctx, l)
	if err != nil {
		return t, unlessEnded(ctx, err)
	}
	defer conn.Close()
	t.Connections = 1
	began, cpu := time.Now(), processorTime()
	if err := c.take(ctx, conn, t); err != nil && ctx.Err() == nil {
		t.Error = err.Error()
	}
	t.finish(began, cpu)
	return t, nil
}

// take receives a file.
func (c *copier) take(ctx context.Context, conn net.Conn, t *Transfer) error {
	header := make([]byte, fileHeaderBytes)
	if _, err := io.ReadFull(conn, header); err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	bytes, part := int64(binary.BigEndian.Uint64(header)), int64(binary.BigEndian.Uint64(header[8:]))
	if bytes < 0 || bytes > 1<<32 || part < 1 {
		return errors.New("receive: not a copy's header")
	}
	d, err := c.open(ctx, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	block := make([]byte, *c.block)
	due := min(part, bytes)
	for t.Bytes < bytes {
		n, err := conn.Read(block[:min(int64(len(block)), due-t.Bytes)])
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if _, err := d.Write(block[:n]); err != nil {
			return fmt.Errorf("write file: %w", err)
		}
		d.took(n)
		t.Bytes += int64(n)
		t.WaitSeconds = d.waited.Seconds()
		if t.Bytes == due {
			if _, err := conn.Write([]byte{1}); err != nil {
				return fmt.Errorf("acknowledge: %w", err)
			}
			due = min(due+part, bytes)
		}
	}
	return nil
}

// give sends the file.
func (c *copier) give(ctx context.Context, conn net.Conn, t *Transfer) error {
	d, err := c.open(ctx, int64(*c.bytes))
	if err != nil {
		return err
	}
	defer d.Close()
	part := c.partBytes()
	header := binary.BigEndian.AppendUint64(nil, uint64(*c.bytes))
	header = binary.BigEndian.AppendUint64(header, uint64(part))
	if _, err := conn.Write(header); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	ack, acked := make([]byte, 1), int64(0)
	block := make([]byte, *c.block)
	for t.Bytes < int64(*c.bytes) {
		for *c.window > 0 && t.Bytes-acked >= int64(*c.window) {
			if _, err := io.ReadFull(conn, ack); err != nil {
				return fmt.Errorf("await acknowledgement: %w", err)
			}
			acked += part
		}
		want := min(int64(len(block)), int64(*c.bytes)-t.Bytes)
		if *c.window > 0 {
			want = min(want, acked+int64(*c.window)-t.Bytes)
		}
		n, err := d.Read(block[:want])
		if err != nil {
			return fmt.Errorf("read file: %w", err)
		}
		d.took(n)
		if _, err := conn.Write(block[:n]); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		t.Bytes += int64(n)
		t.WaitSeconds = d.waited.Seconds()
	}
	for acked < t.Bytes {
		if _, err := io.ReadFull(conn, ack); err != nil {
			return fmt.Errorf("await acknowledgement: %w", err)
		}
		acked += part
	}
	return nil
}

// partBytes is what the receiver acknowledges at once.
func (c *copier) partBytes() int64 {
	switch {
	case *c.part > 0:
		return int64(*c.part)
	case *c.window > 0:
		return int64(*c.window)
	}
	return int64(*c.bytes)
}

// disk is a file whose reads and writes take as long as they would on a disk of a given speed, in the state in which programs wait for
// disks. It lies in memory, so that the machine's own disk has no part in it.
type disk struct {
	*os.File
	ctx    context.Context
	pace   *pace
	seek   time.Duration
	waited time.Duration
}

func (c *copier) open(ctx context.Context, bytes int64) (*disk, error) {
	fd, err := unix.MemfdCreate("copy", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create file: %w", err)
	}
	d := &disk{File: os.NewFile(uintptr(fd), "copy"), ctx: ctx, pace: newPace(*c.disk), seek: time.Duration(*c.seek)}
	d.pace.wait = stall
	if err := d.Truncate(bytes); err != nil {
		d.Close()
		return nil, fmt.Errorf("create file: %w", err)
	}
	return d, nil
}

// took lets the time of a read or write go by.
func (d *disk) took(bytes int) {
	d.waited += stall(d.ctx, d.seek)
	d.waited += d.pace.pass(d.ctx, bytes)
}

const (
	// barrier is a system call that waits where nothing interrupts it, as a read or write of a disk does, for as long as the kernel takes to
	// see all processors pass a quiet state: some 10 ms (membarrier(2), MEMBARRIER_CMD_GLOBAL). It needs no privilege and does nothing else.
	barrier = 1
	// shortStall is a wait too short for it: one that ends late is made up for by the next, within slack.
	shortStall = 2 * time.Millisecond
)

// stall waits as the kernel has a program wait for a disk. It returns after a time, or when ctx ends, and says how long it took.
func stall(ctx context.Context, d time.Duration) time.Duration {
	began := time.Now()
	for ctx.Err() == nil && d-time.Since(began) > shortStall {
		if _, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, barrier, 0, 0); errno != 0 { // some kernels have none
			break
		}
	}
	sleep(ctx, d-time.Since(began))
	return time.Since(began)
}
