package fleet

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pathwise-net/pathwise/measure"
)

// Results travel as JSON lines, packed, many to a message. What is too long for a message goes in pieces, one after the
// other, that name the whole, their place and how many there are:
//
//	Pathwise-Piece: ID PLACE COUNT
const headerPiece = "Pathwise-Piece"

const (
	// batchBytes of JSON are enough for the compressor, and some 400 pings: a batch that is lost on the way costs little.
	batchBytes = 256 << 10
	// pieceBytes keeps one host's long Result from holding up others' on the same line. It is below every server's limit
	// (1 MiB by default), which counts headers, too.
	pieceBytes = 512 << 10
)

// TooLarge says that a Result cannot be carried at all, however often it is tried.
type TooLarge struct {
	ID    string
	Bytes int
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("result %s is %d bytes long; at most %d can be carried: keep fewer samples of it", e.ID, e.Bytes, maxResults)
}

// encode writes Results to batches of JSON lines.
func encode(results []*measure.Result) (batches [][]byte, err error) {
	var b bytes.Buffer
	flush := func() {
		if b.Len() > 0 {
			batches = append(batches, bytes.Clone(b.Bytes()))
			b.Reset()
		}
	}
	for _, r := range results {
		line, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write result %s: %w", r.ID, err)
		}
		if len(line) >= maxResults {
			return nil, &TooLarge{ID: r.ID, Bytes: len(line)}
		}
		if b.Len()+len(line) > batchBytes {
			flush()
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	flush()
	return batches, nil
}

// decode reads the Results of a host out of a batch, and says what in it is not one: a line that is none, or that is
// another host's. The rest counts.
func decode(host string, batch []byte) (results []*measure.Result, bad error) {
	for line := range bytes.Lines(batch) {
		r := new(measure.Result)
		err := json.Unmarshal(line, r)
		switch {
		case err != nil:
		case r.Schema != measure.ResultSchema:
			err = fmt.Errorf("schema %q, not %s", r.Schema, measure.ResultSchema)
		case r.ID == "":
			err = errors.New("a result without ID")
		case r.Source.Name != host:
			err = fmt.Errorf("result %s is of host %q", r.ID, r.Source.Name)
		}
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		results = append(results, r)
	}
	return results, bad
}

// messages makes the messages that carry one packed whole.
func messages(subject string, packed []byte) []*nats.Msg {
	if len(packed) <= pieceBytes {
		return []*nats.Msg{{Subject: subject, Data: packed}}
	}
	var all []*nats.Msg
	id, count := rand.Text(), (len(packed)+pieceBytes-1)/pieceBytes
	for place := range count {
		data := packed[place*pieceBytes : min((place+1)*pieceBytes, len(packed))]
		all = append(all, &nats.Msg{Subject: subject, Data: data,
			Header: nats.Header{headerPiece: {fmt.Sprintf("%s %d %d", id, place, count)}}})
	}
	return all
}

// pieces puts together what came in pieces from one sender, whose pieces come in order. A whole of which a piece is
// missing is dropped: it comes again.
type pieces struct {
	id          string
	next, count int
	data        []byte
	began       time.Time
}

// errLostPiece says that the pieces before this one never came.
var errLostPiece = errors.New("a piece without those before it")

// add takes a message. It returns the whole when it is there, nil while more has to come, and an error for what can be
// part of nothing. The whole has at most so many bytes.
func (p *pieces) add(m *nats.Msg, most int) ([]byte, error) {
	header := m.Header.Get(headerPiece)
	if header == "" {
		return m.Data, nil
	}
	var id string
	var place, count int
	if _, err := fmt.Sscanf(header, "%s %d %d", &id, &place, &count); err != nil {
		return nil, fmt.Errorf("read %s %q: %w", headerPiece, header, err)
	}
	if count < 1 || count > most/pieceBytes+1 || place < 0 || place >= count {
		return nil, fmt.Errorf("read %s %q: no such place or count", headerPiece, header)
	}
	if place == 0 {
		*p = pieces{id: id, count: count, began: time.Now()}
	}
	if id != p.id || place != p.next || count != p.count || len(p.data)+len(m.Data) > most {
		*p = pieces{}
		return nil, errLostPiece
	}
	p.data = append(p.data, m.Data...)
	if p.next++; p.next < p.count {
		return nil, nil
	}
	whole := p.data
	*p = pieces{}
	return whole, nil
}
