package workload

import (
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
)

// Connection is what the kernel says about a connection that carried bulk data. Ratios are of the time that the
// connection was watched, or of the readings taken in it.
type Connection struct {
	Readings int `json:"readings"`
	// Last is the last reading of TCP_INFO, by the names that the other commands use.
	Last map[string]float64 `json:"last"`

	Timestamps  bool `json:"timestamps"` // options that both ends agreed on
	SACK        bool `json:"sack"`
	WindowScale bool `json:"window_scale"`
	ECN         bool `json:"ecn"`

	BusyRatio          float64 `json:"busy_ratio"`
	RwndLimitedRatio   float64 `json:"rwnd_limited_ratio"`
	SndbufLimitedRatio float64 `json:"sndbuf_limited_ratio"`
	AppLimitedRatio    float64 `json:"app_limited_ratio"` // of readings: the program had left room for more
	NotsentMedian      float64 `json:"notsent_median_bytes"`
	UnackedMedian      float64 `json:"unacked_median_packets"`
	WindowMax          float64 `json:"snd_wnd_max_bytes"` // the largest that the receiver offered
	RTTMax             float64 `json:"rtt_max_seconds"`
	MaxBackoff         float64 `json:"backoff_max"`

	SendBuffer    int `json:"send_buffer_bytes"`
	ReceiveBuffer int `json:"receive_buffer_bytes"`
}

// watchEvery is fine enough to see each of the states that last as long as a round trip of a wide-area path.
const watchEvery = 50 * time.Millisecond

// watcher reads a connection's TCP_INFO now and then.
type watcher struct {
	raw                    syscall.RawConn
	began                  time.Time
	report                 Connection
	notsent, unacked       []float64
	appLimited             int
	busy, rwnd, sndbuf, at float64 // seconds at the last reading
	quit, ended            chan struct{}
}

func watch(c *net.TCPConn) *watcher {
	w := &watcher{began: time.Now(), quit: make(chan struct{}), ended: make(chan struct{})}
	w.raw, _ = c.SyscallConn() // a closed connection fails every reading; the report stays empty then
	go func() {
		defer close(w.ended)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-w.quit:
				return
			case <-tick.C:
				w.read()
			}
		}
	}()
	return w
}

func (w *watcher) read() {
	info, err := sock.ReadTCPInfo(w.raw)
	if err != nil {
		return
	}
	v := info.Values()
	w.report.Readings++
	w.report.Last = v
	w.notsent, w.unacked = append(w.notsent, v["notsent_bytes"]), append(w.unacked, v["unacked_packets"])
	if v["delivery_rate_app_limited"] > 0 {
		w.appLimited++
	}
	w.report.WindowMax = max(w.report.WindowMax, v["snd_wnd_bytes"])
	w.report.RTTMax = max(w.report.RTTMax, v["rtt_seconds"])
	w.report.MaxBackoff = max(w.report.MaxBackoff, v["backoff"])
	w.at = time.Since(w.began).Seconds()
	w.busy, w.rwnd, w.sndbuf = v["busy_seconds"], v["rwnd_limited_seconds"], v["sndbuf_limited_seconds"]
}

// stop ends the watch and returns its report. The connection must still be open.
func (w *watcher) stop() *Connection {
	close(w.quit)
	<-w.ended
	w.read()
	r := &w.report
	if r.Readings == 0 {
		return r
	}
	bits := int(r.Last["options"])
	r.Timestamps, r.SACK = bits&sock.OptTimestamps != 0, bits&sock.OptSACK != 0
	r.WindowScale, r.ECN = bits&sock.OptWscale != 0, bits&sock.OptECN != 0
	r.BusyRatio, r.RwndLimitedRatio, r.SndbufLimitedRatio = w.busy/w.at, w.rwnd/w.at, w.sndbuf/w.at
	r.AppLimitedRatio = float64(w.appLimited) / float64(r.Readings)
	slices.Sort(w.notsent)
	slices.Sort(w.unacked)
	r.NotsentMedian, r.UnackedMedian = stat.Median(w.notsent), stat.Median(w.unacked)
	r.SendBuffer, _ = sock.SendBuffer(w.raw) // read from the same socket a moment ago
	r.ReceiveBuffer, _ = sock.ReceiveBuffer(w.raw)
	return r
}
