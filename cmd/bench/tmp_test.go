package main
import ("testing";"time";"fmt";"github.com/pathwise-net/pathwise/lab";"os")
func TestTmpFollow(t *testing.T) {
	for i := range 6 {
		d := lab.Delay(20*time.Millisecond)
		spec := &lab.Spec{Hosts: map[string]lab.Host{"a": {}, "b": {}}, Links: []lab.Link{{Between: []string{"a", "b"}, Shape: lab.Shape{Delay: &d}}}}
		l, err := lab.Start(t.Context(), spec, lab.Options{})
		if err != nil { t.Fatal(err) }
		var w func() ([]departure, error)
		if i%2==0 { w = followDeliveries(t.Context(), l, 30000) }
		s := stream{10000,200,3}
		os.Stderr.WriteString("")
		_, _, err = s.run(t.Context(), l, "a", "b", firstAddresses[1], "stamps")
		if err != nil { t.Fatal(err) }
		if w != nil { w() }
		tr, _ := l.Truth()
		f := largestFlow(tr)
		fmt.Println(i%2==0, f.Packets, f.LateSeconds.Median*1e6, f.LateSeconds.P99*1e6)
		l.Close()
	}
}
