package dispersion

// instant is when packets arrived: one, or several that were handed over at once.
type instant struct {
	at     int64 // ns
	sum    int   // packets of the train that have arrived by then
	queued bool  // these came right behind those before them
}

// instants are the arrivals of a train. Packets queued if they left so early that they could have been here before the ones ahead of them:
// something held them up until those were through. What did not queue tells when it was sent, and nothing about the link.
func instants(t Train) (all []instant) {
	for i, p := range t.Packets {
		if i > 0 && p.At == t.Packets[i-1].At {
			all[len(all)-1].sum++
			continue
		}
		all = append(all, instant{p.At, i + 1, i > 0 && p.Sent <= t.Packets[i-1].At})
	}
	return all
}

// gaps are the times from one packet to the next in seconds, each the mean over so many packets that all queued. Lost packets are no gap: what a full
// queue drops leaves its link busy.
func gaps(all []instant, span int) (gaps []float64) {
	for from, to := 0, 0; to < len(all); {
		switch {
		case !all[to].queued: // no span reaches across it
			from, to = to, to+1
		case all[to].sum-all[from].sum < span:
			to++
		default:
			gaps = append(gaps, float64(all[to].at-all[from].at)/1e9/float64(all[to].sum-all[from].sum))
			from++
		}
	}
	return gaps
}

// part is a train from one of its arrivals to before another.
func (t Train) part(from, to int) Train {
	t.Packets = t.Packets[min(from, len(t.Packets)):min(to, len(t.Packets))]
	return t
}
