package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

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
