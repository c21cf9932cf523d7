package workload

import (
	"context"
	"encoding/binary"
	"flag"
	"io"
	"net"
	"time"
)

// reply is a program that answers.
type reply struct {
	*options
	port  int
	count int
	think *spanValue
	each  *spanValue
}

func runReply(ctx context.Context, f *flag.FlagSet, args []string) (any, error) {
	r := reply{options: optionFlags(f)}
	f.IntVar(&r.port, "port", 5002, "port to listen on")
	f.IntVar(&r.count, "connections", 0, "end after so many; 0: never")
	r.think = spanFlag(f, "think", 0, "time that each answer takes to make")
	r.each = spanFlag(f, "accept-every", 0, "take a connection no more often: a server that is busy")
	if _, err := parse(f, args); err != nil {
		return nil, err
	}
	l, err := r.listen(ctx, r.port)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	report := &Transactions{Role: "reply"}
	began := time.Now()
	served, open := make(chan int), 0
	for i := 0; r.count == 0 || i < r.count; i++ {
		c, err := r.accept(ctx, l)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return report, err
		}
		open++
		go func() { served <- r.serve(c) }()
		sleep(ctx, time.Duration(*r.each))
	}
	for ; open > 0; open-- {
		report.Transactions += <-served
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// serve answers until the far end has no more, and returns how many it answered.
func (r *reply) serve(c net.Conn) (answered int) {
	defer c.Close()
	header := make([]byte, headerBytes)
	for {
		if _, err := io.ReadFull(c, header); err != nil {
			return answered // the end, or a client that broke off: both are the client's to tell
		}
		size, answer := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
		if size < headerBytes || size > largestMessage || answer > largestMessage {
			return answered
		}
		if _, err := io.CopyN(io.Discard, c, int64(size)-headerBytes); err != nil {
			return answered
		}
		time.Sleep(time.Duration(*r.think))
		if _, err := c.Write(make([]byte, answer)); err != nil {
			return answered
		}
		answered++
	}
}
