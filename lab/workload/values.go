package workload

import (
	"flag"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// Values of flags, read as the rest of Pathwise reads them: "10mbit", "64K", "200ms".
type (
	rateValue float64 // bit/s; 0: no limit
	sizeValue int64   // bytes
	spanValue time.Duration
)

func (v *rateValue) String() string { return strconv.FormatFloat(float64(*v), 'f', -1, 64) }
func (v *sizeValue) String() string { return strconv.FormatInt(int64(*v), 10) }
func (v *spanValue) String() string { return time.Duration(*v).String() }

func (v *rateValue) Set(text string) error { return set(v, text, quantity.ParseRate) }
func (v *sizeValue) Set(text string) error { return set(v, text, quantity.ParseSize) }
func (v *spanValue) Set(text string) error { return set(v, text, quantity.ParseDuration) }

func set[T, P ~int64 | ~float64](v *T, text string, parse func(string) (P, error)) error {
	parsed, err := parse(text)
	if err == nil {
		*v = T(parsed)
	}
	return err
}

func rateFlag(f *flag.FlagSet, name, usage string) *rateValue {
	v := new(rateValue)
	f.Var(v, name, usage)
	return v
}

func sizeFlag(f *flag.FlagSet, name string, value int64, usage string) *sizeValue {
	v := sizeValue(value)
	f.Var(&v, name, usage)
	return &v
}

func spanFlag(f *flag.FlagSet, name string, value time.Duration, usage string) *spanValue {
	v := spanValue(value)
	f.Var(&v, name, usage)
	return &v
}
