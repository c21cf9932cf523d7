package lab

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/record"
)

// captureTo is capture, with its outcome as the answer.
func (e *engine) captureTo(at []string, files []*os.File, gone <-chan struct{}) answer {
	if len(files) != 1 {
		return errorAnswer(errors.New("capture: want one descriptor to write to"))
	}
	if err := e.capture(at, files[0], gone); err != nil {
		return errorAnswer(err)
	}
	return answer{Done: true}
}

// capture writes what passes some interfaces to a file, until the user goes or the file takes no more. That a pipe's reader
// has gone is such an end, and no error.
func (e *engine) capture(at []string, file *os.File, gone <-chan struct{}) error {
	ids, err := e.plan.interfacesAt(at)
	if err != nil {
		return err
	}
	var named []record.Interface
	place := make([]int, len(e.plan.Interfaces))
	for i := range place {
		place[i] = -1
	}
	for k, id := range ids {
		place[id] = k
		i := e.plan.Interfaces[id]
		named = append(named, record.Interface{Name: e.plan.nodeOf(id) + "." + i.Name, Description: i.Address.String()})
	}
	u := e.pump
	c, err := record.NewCapture(file, u.start, named)
	if err != nil {
		return err
	}
	tap := &tap{see: func(t int64, iface int, out bool, p *packet.Packet) {
		if k := place[iface]; k >= 0 {
			c.Packet(k, t, p.Data, record.Seen{Number: p.Number, Out: out})
		}
	}}
	u.mu.Lock()
	u.network.AddTap(tap)
	u.mu.Unlock()
	select {
	case <-gone:
	case <-c.Failed():
	}
	u.mu.Lock()
	u.network.RemoveTap(tap)
	u.mu.Unlock()
	if err := c.Close(u.now()); !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return nil
}

// interfacesAt finds interfaces by the names of their nodes, or by NODE.ethN.
func (p *Plan) interfacesAt(names []string) ([]int, error) {
	var ids []int
	for _, name := range names {
		node, device, one := strings.Cut(name, ".")
		id, ok := p.NodeByName(node)
		if !ok {
			return nil, specErrorf("capture: %q: no such host or router", node)
		}
		before := len(ids)
		for _, i := range p.Nodes[id].Interfaces {
			if !one || p.Interfaces[i].Name == device {
				ids = append(ids, i)
			}
		}
		if len(ids) == before {
			return nil, specErrorf("capture: %q: no such interface; want %s.eth0 and so on", name, node)
		}
	}
	if len(ids) == 0 {
		return nil, specErrorf("capture: want at least one node or NODE.ethN")
	}
	return ids, nil
}
