package workload

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// disk is a file whose reads and writes take as long as they would on a disk of a given speed. It lies in memory, so that
// the machine's own disk has no part in it.
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
	if err := d.Truncate(bytes); err != nil {
		d.Close()
		return nil, fmt.Errorf("create file: %w", err)
	}
	return d, nil
}

// took lets the time of a read or write go by.
func (d *disk) took(bytes int) {
	d.waited += sleep(d.ctx, d.seek)
	d.waited += d.pace.pass(d.ctx, bytes)
}
