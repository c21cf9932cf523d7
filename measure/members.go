package measure

// Member is one of a multicast group.
type Member struct {
	ID      string `json:"id"` // 16 hexadecimal digits, which it drew by itself
	Name    string `json:"name"`
	Address string `json:"address"`        // that its packets came from; "": of this host's own, and of those that were only heard of
	Self    bool   `json:"self,omitempty"` // this host
	Sent    int    `json:"sent_packets"`   // as far as is known
}

// MemberPair is what one member of a group received of what another sent, as the one who received told. Delays are by the clocks of both ends.
type MemberPair struct {
	From  int  `json:"from"` // index in Samples.Members, from 0
	To    int  `json:"to"`
	Final bool `json:"final"` // it is of all that was sent while the receiver listened

	Sent       int `json:"sent_packets"` // while it listened
	Received   int `json:"received_packets"`
	Duplicates int `json:"duplicate_packets"`
	Reordered  int `json:"reordered_packets"`
	ExtentMax  int `json:"reordering_extent_max_packets"`
	BurstMax   int `json:"loss_burst_max_packets"`
	Remarked   int `json:"remarked_packets,omitempty"` // came with another DSCP than they were sent with

	HopsMin *int `json:"hops_min,omitempty"` // routers passed; nil: not known
	HopsMax *int `json:"hops_max,omitempty"`

	DelayMinSeconds    *float64 `json:"delay_min_seconds,omitempty"` // nil: nothing came
	DelayMedianSeconds *float64 `json:"delay_median_seconds,omitempty"`
	DelayP95Seconds    *float64 `json:"delay_p95_seconds,omitempty"`
	PDVP95Seconds      *float64 `json:"pdv_p95_seconds,omitempty"` // RFC 5481; nil: fewer than two came
	IPDVP95Seconds     *float64 `json:"ipdv_p95_seconds,omitempty"`
	ClockErrorSeconds  *float64 `json:"clock_error_seconds,omitempty"` // the most by which the clocks make delays wrong; nil: one of them claims nothing
}
