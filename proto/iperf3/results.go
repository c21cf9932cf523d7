package iperf3

import (
	"encoding/json"
	"fmt"
)

// Results are what each end tells the other in EXCHANGE_RESULTS (iperf_api.c, send_results).
type Results struct {
	CPUTotal  float64 `json:"cpu_util_total"` // percent of one core
	CPUUser   float64 `json:"cpu_util_user"`
	CPUSystem float64 `json:"cpu_util_system"`

	// SenderHasRetransmits is 1 if this end sends and knows its retransmissions, 0 if not, -1 if it only receives.
	SenderHasRetransmits number         `json:"sender_has_retransmits"`
	CongestionUsed       string         `json:"congestion_used,omitempty"`
	Streams              []StreamResult `json:"streams"`

	// What a server printed, where it was asked for: a text, or iperf3's JSON.
	ServerOutput     string          `json:"server_output_text,omitempty"`
	ServerOutputJSON json.RawMessage `json:"server_output_json,omitempty"`

	Pathwise *ResultsExtra `json:"pathwise,omitempty"` // ours; stock peers ignore it
}

// StreamResult is one stream as one end saw it. Bytes are those sent if the end is the stream's sender, else those
// received, without the omitted period. The packet counts are of UDP.
type StreamResult struct {
	ID             number  `json:"id"`
	Bytes          number  `json:"bytes"`
	Retransmits    number  `json:"retransmits"` // -1: unknown
	Jitter         float64 `json:"jitter"`      // s (RFC 1889 A.8)
	Errors         number  `json:"errors"`      // datagrams lost, with those of the omitted period
	OmittedErrors  *number `json:"omitted_errors,omitempty"`
	Packets        number  `json:"packets"` // highest sequence number, with the omitted period
	OmittedPackets *number `json:"omitted_packets,omitempty"`
	StartTime      float64 `json:"start_time"` // s, since 3.2
	EndTime        float64 `json:"end_time"`
}

// streamID is the wire's number for the stream with the given index from 0: 1, 3, 4, 5…
func streamID(index int) int {
	if index == 0 {
		return 1
	}
	return index + 2
}

// EncodeResults writes the JSON text of r.
func EncodeResults(r Results) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode results: %w", err)
	}
	return text, nil
}

// DecodeResults reads the JSON text of the peer's results. It returns a *ProtocolError if the text is malformed or
// lacks what iperf3 itself insists on.
func DecodeResults(text []byte) (Results, error) {
	var required struct {
		Total       *json.Number      `json:"cpu_util_total"`
		User        *json.Number      `json:"cpu_util_user"`
		System      *json.Number      `json:"cpu_util_system"`
		Retransmits *json.Number      `json:"sender_has_retransmits"`
		Streams     []json.RawMessage `json:"streams"`
	}
	var r Results
	if err := json.Unmarshal(text, &required); err != nil {
		return r, &ProtocolError{What: "malformed results: " + oneLine(err.Error())}
	}
	if required.Total == nil || required.User == nil || required.System == nil || required.Retransmits == nil {
		return r, &ProtocolError{What: "results without cpu_util or sender_has_retransmits"}
	}
	if len(required.Streams) > 2*maxStreams {
		return r, &ProtocolError{What: fmt.Sprintf("results of %d streams", len(required.Streams))}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, &ProtocolError{What: "malformed results: " + oneLine(err.Error())}
	}
	r.CongestionUsed = oneLine(r.CongestionUsed)
	for i := range r.Streams {
		s := &r.Streams[i]
		jitter := s.Jitter >= 0 && s.Jitter <= longest // that of packets back to back is below a microsecond
		if s.Bytes < 0 || !jitter || !plausible(s.StartTime, s.EndTime) || s.EndTime < s.StartTime {
			return r, &ProtocolError{What: fmt.Sprintf("results of stream %d are not possible", s.ID)}
		}
	}
	if r.Pathwise != nil {
		if err := r.Pathwise.check(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// longest is in seconds what no test lasts.
const longest = 1e9

// plausible reports whether seconds are such as a test can have: what comes from outside is divided by later, and must
// not become infinite.
func plausible(seconds ...float64) bool {
	const shortest = 1e-6
	for _, s := range seconds {
		if s != 0 && !(s >= shortest && s <= longest) {
			return false
		}
	}
	return true
}

// stream returns the result with the given id.
func (r Results) stream(id int) (StreamResult, bool) {
	for _, s := range r.Streams {
		if int(s.ID) == id {
			return s, true
		}
	}
	return StreamResult{}, false
}

// results is what this end tells the other.
func (t *transfer) results(extra *ResultsExtra) Results {
	cpu := t.monitor.cpu
	r := Results{
		CPUTotal: cpu.Total * 100, CPUUser: cpu.User * 100, CPUSystem: cpu.System * 100,
		SenderHasRetransmits: -1, Streams: []StreamResult{}, Pathwise: extra,
	}
	for _, s := range t.streams {
		r.Streams = append(r.Streams, s.result())
		if s.sender {
			r.SenderHasRetransmits = 0
			if s.tcp != nil {
				r.SenderHasRetransmits = 1
			}
		}
		e := s.extra()
		if s.index == 0 {
			r.CongestionUsed = e.Congestion
		}
		if extra != nil {
			extra.Streams = append(extra.Streams, e)
			if a := s.arrivalsOf(); a != nil {
				extra.Arrivals = toWire(a)
			}
		}
	}
	if extra != nil {
		extra.Samples, extra.Counts = NewSampleTable(t.monitor.samples), t.monitor.trouble
	}
	return r
}
