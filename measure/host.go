package measure

// HostSample is what a host's parts did over an interval: what the metrics of the host are sums of.
type HostSample struct {
	CPUs       []CPUSample       `json:"cpus,omitempty"`
	Disks      []DiskSample      `json:"disks,omitempty"`
	Interfaces []InterfaceSample `json:"interfaces,omitempty"`
}

// CPUSample is one core's time, as shares of the interval.
type CPUSample struct {
	CPU     int     `json:"cpu"`
	Busy    float64 `json:"busy_ratio"`
	SoftIRQ float64 `json:"softirq_ratio"`
	IOWait  float64 `json:"iowait_ratio"`
	Steal   float64 `json:"steal_ratio"`
}

// DiskSample is one disk's.
type DiskSample struct {
	Name  string  `json:"name"`
	Read  float64 `json:"read_bytes_per_second"`
	Write float64 `json:"write_bytes_per_second"`
	Busy  float64 `json:"busy_ratio"`
}

// InterfaceSample is one network interface's. Errors and drops are of the interval.
type InterfaceSample struct {
	Name          string  `json:"name"`
	Adapter       bool    `json:"adapter"` // hardware, or what a hypervisor shows as such: counted in the metrics
	Received      float64 `json:"received_bits_per_second"`
	Sent          float64 `json:"sent_bits_per_second"`
	ReceiveErrors float64 `json:"receive_errors_packets"`
	ReceiveDrops  float64 `json:"receive_drops_packets"`
	SendErrors    float64 `json:"send_errors_packets"`
	SendDrops     float64 `json:"send_drops_packets"`
	LinkRate      float64 `json:"link_bits_per_second,omitempty"` // 0: it does not say
}
