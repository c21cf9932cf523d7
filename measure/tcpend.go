package measure

// TCPEnd is what one end of a stream was set to: what bears on how fast TCP can go and does not change during a test.
// A nil or zero field is not known.
type TCPEnd struct {
	End                string       `json:"end"`       // "sender" or "receiver" of the data
	Direction          string       `json:"direction"` // as in Interval
	Stream             int          `json:"stream"`
	Host               string       `json:"host"`
	CongestionControl  string       `json:"congestion_control,omitempty"`
	MSSBytes           int          `json:"mss_bytes,omitempty"`
	SendBufferBytes    int          `json:"send_buffer_bytes,omitempty"`    // SO_SNDBUF when the test ended
	ReceiveBufferBytes int          `json:"receive_buffer_bytes,omitempty"` // SO_RCVBUF when the test ended
	BuffersFixed       bool         `json:"buffers_fixed"`                  // the application set them; the kernel does not tune
	Settings           *TCPSettings `json:"settings,omitempty"`
}

// TCPSettings are the kernel's settings of a host that the diagnosis uses; see sock.TCPSettings.
type TCPSettings struct {
	RmemBytes         *[3]int `json:"tcp_rmem_bytes,omitempty"` // least, first, most
	WmemBytes         *[3]int `json:"tcp_wmem_bytes,omitempty"`
	WindowScaling     *int    `json:"tcp_window_scaling,omitempty"`
	CongestionControl *string `json:"tcp_congestion_control,omitempty"`
}

// Find returns the given end of the first stream in a direction, nil if nothing is known of it.
func (s *Samples) Find(direction, end string) *TCPEnd {
	for i := range s.Ends {
		if e := &s.Ends[i]; e.Direction == direction && e.End == end {
			return e
		}
	}
	return nil
}
