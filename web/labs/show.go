package labs

import (
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/link"
)

// Lab is a lab as it stands.
type Lab struct {
	Name     string          `json:"name"`
	Began    time.Time       `json:"began" doc:"When it came up: a later lab of that name is another"`
	Seconds  float64         `json:"seconds" doc:"Since it came up; what is counted is counted since then"`
	Nodes    []lab.NodeState `json:"nodes"`
	Links    []Link          `json:"links"`
	Changes  []Change        `json:"changes" doc:"That can be taken back, newest first"`
	Emulator string          `json:"emulator,omitempty" doc:"Why what is measured now says more of this machine than of the lab"`
	Testing  bool            `json:"testing" doc:"A test that was begun here is under way"`
}

// Link is one link both ways. Its number is its place in the lab file, from 0.
type Link struct {
	Number  int       `json:"number"`
	Between [2]string `json:"between"`
	Forward Way       `json:"forward" doc:"From the first node of between to the second"`
	Reverse Way       `json:"reverse"`
}

// Way is what a link does in one direction, and did.
type Way struct {
	Settings map[string]string  `json:"settings" doc:"As in a lab file, by key"`
	Values   map[string]float64 `json:"values" doc:"Those of the settings that are plain numbers, in SI units: seconds, bit/s, bytes, ratios; down is 1"`

	Packets    uint64            `json:"packets"`
	Delivered  uint64            `json:"delivered_packets"`
	Bytes      uint64            `json:"delivered_bytes" doc:"Of IP"`
	Lost       uint64            `json:"lost_packets" doc:"For whatever cause"`
	Dropped    map[string]uint64 `json:"dropped" doc:"Lost packets by cause"`
	Duplicated uint64            `json:"duplicated_packets"`
	Reordered  uint64            `json:"reordered_packets"`
	Corrupted  uint64            `json:"corrupted_packets"`
	Queue      int64             `json:"queue_packets"`
	QueueBytes int64             `json:"queue_bytes"`
}

// freshness is how old a document may be: a page asks once a second.
const freshness = 400 * time.Millisecond

// Lab returns a lab as it stands, or stood a moment ago.
func (s *Labs) Lab(name string) (*Lab, error) {
	l, k, done, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	switch {
	case k.shown != nil && time.Since(k.shownAt) < freshness:
		return k.shown, nil
	case time.Now().Before(k.failedUntil):
		return nil, k.failed
	}
	return k.look(l)
}

// look asks the lab how it stands: callers that wait meanwhile get the same document. What keeps them waiting and then fails
// does so for all of them, and for whoever comes in as long a time.
func (k *known) look(l *lab.Lab) (*Lab, error) {
	began := time.Now()
	doc, err := k.ask(l)
	if err != nil {
		k.failed, k.failedUntil = err, time.Now().Add(time.Since(began))
		return nil, err
	}
	k.shown, k.shownAt = doc, time.Now()
	return doc, nil
}

func (k *known) ask(l *lab.Lab) (*Lab, error) {
	state, err := l.State()
	if err != nil {
		return nil, err
	}
	shapes, err := l.Shapes()
	if err != nil {
		return nil, err
	}
	truth, err := l.TruthOf(lab.Window{From: -1}) // flows are not shown
	if err != nil {
		return nil, err
	}
	if !k.began.Equal(truth.Started) { // a new lab of that name
		k.began, k.changes = truth.Started, nil
	}
	doc := &Lab{Name: state.Name, Began: truth.Started, Seconds: truth.Seconds, Nodes: state.Nodes, Links: []Link{},
		Changes: k.history(), Testing: k.testing}
	if truth.Emulator.Bottleneck {
		doc.Emulator = truth.Emulator.Why
	}
	for i, between := range state.Links {
		doc.Links = append(doc.Links, Link{i, between.Between, way(shapes[2*i], &truth.Links[2*i]), way(shapes[2*i+1], &truth.Links[2*i+1])})
	}
	return doc, nil
}

func way(s link.Shape, t *lab.LinkTruth) Way {
	return Way{
		Settings: s.Settings(), Values: values(s), Packets: t.Packets, Delivered: t.Delivered, Bytes: t.Bytes,
		Lost: t.DroppedInAll(), Dropped: t.Dropped, Duplicated: t.Duplicated, Reordered: t.Reordered,
		Corrupted: t.Corrupted, Queue: t.Queue.Packets, QueueBytes: t.Queue.Bytes,
	}
}

// values are the settings that are plain numbers, which a slider can show.
func values(s link.Shape) map[string]float64 {
	all := map[string]float64{}
	if s.Rate != nil {
		all["rate"] = float64(*s.Rate)
	}
	if s.Delay != nil {
		all["delay"] = time.Duration(*s.Delay).Seconds()
	}
	if j := s.Jitter; j != nil && j.Table == nil && j.TableFile == "" {
		all["jitter"] = time.Duration(j.Spread).Seconds()
	}
	if s.Loss.Plain() {
		all["loss"] = float64(*s.Loss.Ratio)
	}
	if s.Duplicate != nil {
		all["duplicate"] = float64(s.Duplicate.Ratio)
	}
	if s.Reorder != nil && s.Reorder.Gap == 0 {
		all["reorder"] = float64(s.Reorder.Ratio)
	}
	if s.Corrupt != nil {
		all["corrupt"] = float64(s.Corrupt.Ratio)
	}
	if s.Queue != nil && len(s.Queue.Classes) == 0 && s.Queue.Limit.Time > 0 {
		all["queue"] = time.Duration(s.Queue.Limit.Time).Seconds()
	}
	if s.MTU != nil {
		all["mtu"] = float64(s.MTU.Size)
	}
	if s.Down != nil && bool(*s.Down) {
		all["down"] = 1
	}
	return all
}
