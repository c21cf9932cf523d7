package measure

import (
	"encoding/json"
	"fmt"
	"maps"
)

// TCPSample is one reading of the kernel's TCP_INFO. Values are keyed by the names that sock.TCPInfo.Values gives
// them; a field that the kernel did not report is absent, which is not zero. In JSON the values stand beside the
// other fields.
type TCPSample struct {
	End            string  // "sender" or "receiver" of the data
	Direction      string  // as in Interval
	Stream         int     // as in Interval, from 1
	ElapsedSeconds float64 // since the data phase began
	Values         map[string]float64
}

// Get returns one value and whether the kernel reported it.
func (s TCPSample) Get(name string) (float64, bool) {
	v, ok := s.Values[name]
	return v, ok
}

// HasRoom reports whether a program could give the socket more to send, and whether the sample tells. Linux calls a socket writable
// while less than two thirds of its send buffer are in use (sk_stream_is_writeable: free space of at least half of what is queued).
func (s TCPSample) HasRoom() (room, told bool) {
	buffer := s.Values["send_buffer_bytes"]
	return s.Values["send_queued_bytes"] <= buffer*2/3, buffer > 0
}

// Readings returns what the kernel said at one end of the data that went in a direction, of all streams.
func (s *Samples) Readings(direction, end string) (all []TCPSample) {
	for _, one := range s.TCPInfo {
		if one.Direction == direction && one.End == end {
			all = append(all, one)
		}
	}
	return all
}

// MarshalJSON writes the sample as one flat object.
func (s TCPSample) MarshalJSON() ([]byte, error) {
	flat := make(map[string]any, len(s.Values)+4)
	for k, v := range s.Values {
		flat[k] = v
	}
	flat["end"], flat["direction"], flat["stream"], flat["elapsed_seconds"] = s.End, s.Direction, s.Stream, s.ElapsedSeconds
	return json.Marshal(flat)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *TCPSample) UnmarshalJSON(data []byte) error {
	var head struct {
		End            string  `json:"end"`
		Direction      string  `json:"direction"`
		Stream         int     `json:"stream"`
		ElapsedSeconds float64 `json:"elapsed_seconds"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("read TCP sample: %w", err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("read TCP sample: %w", err)
	}
	maps.DeleteFunc(all, func(k string, v any) bool {
		_, number := v.(float64)
		return !number || k == "stream" || k == "elapsed_seconds"
	})
	*s = TCPSample{End: head.End, Direction: head.Direction, Stream: head.Stream, ElapsedSeconds: head.ElapsedSeconds,
		Values: make(map[string]float64, len(all))}
	for k, v := range all {
		s.Values[k] = v.(float64)
	}
	return nil
}
