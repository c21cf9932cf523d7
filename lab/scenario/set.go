package scenario

import (
	"fmt"
	"reflect"

	"github.com/pathwise-net/pathwise/lab/link"
)

// set changes the lab.
func (p *play) set(s *Set) error {
	switch {
	case s.Route != nil:
		return p.lab.SetRoute(*s.Route)
	case s.Host != "":
		for key, value := range s.Sysctl {
			if err := p.lab.SetSysctl(s.Host, key, value); err != nil {
				return err
			}
		}
		return nil
	}
	return p.lab.Set(s.Between[0], s.Between[1], s.settings()...)
}

// settings are the changes as lab.Set takes them.
func (s *Set) settings() []string {
	both := s.Shape
	all := shapeSettings("", &both)
	all = append(all, shapeSettings("forward.", s.Forward)...)
	return append(all, shapeSettings("reverse.", s.Reverse)...)
}

func shapeSettings(prefix string, s *link.Shape) (all []string) {
	if s == nil {
		return nil
	}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			all = append(all, fmt.Sprintf("%s%s=%v", prefix, v.Type().Field(i).Tag.Get("yaml"), v.Field(i).Elem().Interface()))
		}
	}
	return all
}
