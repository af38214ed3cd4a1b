// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
)

// Limits bound the requests of callers by class; classes without an entry have their default rate.
type Limits map[limit.Class]limit.Rate

type fileLimits struct {
	Rates []fileRate `hcl:"rate,block"`
}

type fileRate struct {
	Class     string   `hcl:"class,label"`
	PerSecond *float64 `hcl:"per_second,optional"`
	Burst     *int     `hcl:"burst,optional"`
}

func (l *Limits) merge(path string, f *fileLimits) error {
	if f == nil {
		return nil
	}
	for _, r := range f.Rates {
		class, ok := limit.Named(r.Class)
		if !ok {
			return api.Errorf(api.CodeInvalid, "%s: limits: rate %q: the classes of requests are %s", path, r.Class, classNames())
		}
		rate, ok := (*l)[class]
		if !ok {
			rate = class.Default()
		}
		if r.PerSecond != nil {
			rate.PerSecond = *r.PerSecond
		}
		if r.Burst != nil {
			rate.Burst = *r.Burst
		}
		if v := rate.PerSecond; v != 0 && !(v >= limit.MinPerSecond && v <= limit.MaxPerSecond) {
			return api.Errorf(api.CodeInvalid, "%s: limits: rate %q: per_second = %g: must be from %g to %g, or 0 for no limit", path, r.Class, v, limit.MinPerSecond, limit.MaxPerSecond)
		}
		if rate.Burst < 1 || rate.Burst > limit.MaxBurst {
			return api.Errorf(api.CodeInvalid, "%s: limits: rate %q: burst = %d: must be from 1 to %d", path, r.Class, rate.Burst, int(limit.MaxBurst))
		}
		if *l == nil {
			*l = Limits{}
		}
		(*l)[class] = rate
	}
	return nil
}

func classNames() string {
	names := []string{}
	for _, c := range limit.Classes() {
		names = append(names, fmt.Sprintf("%q", c))
	}
	return strings.Join(names, ", ")
}
