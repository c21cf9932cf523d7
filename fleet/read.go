package fleet

import (
	"maps"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pathwise-net/pathwise/measure"
)

// delivery is what goes to the archive in one call, and what is to be acknowledged for it.
type delivery struct {
	host    string
	results []*measure.Result
	msgs    []jetstream.Msg
}

// read sorts messages by host, in order, puts pieces together, and ends what cannot be read.
func (f *filing) read(msgs []jetstream.Msg, parts map[string]*pieces) (all []*delivery) {
	byHost := map[string]*delivery{}
	maps.DeleteFunc(parts, func(_ string, p *pieces) bool { return time.Since(p.began) > filingTime }) // its host is gone
	for _, m := range msgs {
		host := hostOf(m.Subject(), subjectResult)
		results, more, err := f.results(host, m, parts)
		if err != nil {
			f.hub.poison.log(f.hub.log, "dropped a message that holds no results of its sender", "from", host, "error", err)
		}
		switch {
		case more:
			acknowledge(m.Ack) // held here now: if it is lost with this process, the agent sends all of it again
			continue
		case len(results) == 0:
			acknowledge(m.Term)
			continue
		}
		d := byHost[host]
		if d == nil {
			d = &delivery{host: host}
			byHost[host] = d
			all = append(all, d)
		}
		d.results = append(d.results, results...)
		d.msgs = append(d.msgs, m)
	}
	return all
}

func (f *filing) results(host string, m jetstream.Msg, parts map[string]*pieces) (_ []*measure.Result, more bool, _ error) {
	p := parts[host]
	if p == nil {
		p = new(pieces)
	}
	whole, err := p.add(&nats.Msg{Header: m.Headers(), Data: m.Data()})
	if p.count == 0 {
		delete(parts, host)
	} else {
		parts[host] = p
	}
	if err != nil {
		return nil, false, err
	}
	if whole == nil {
		return nil, true, nil
	}
	raw, err := f.hub.packer.decompress(whole)
	if err != nil {
		return nil, false, err
	}
	results, err := decode(host, raw)
	return results, false, err
}
