package workload

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

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
