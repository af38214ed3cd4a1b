// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// metrics holds the results of Go benchmarks, by benchmark and unit.
type metrics map[string]map[string]float64

// run runs benchmarks of a package and adds their results.
func (m metrics) run(ctx context.Context, pkg, pattern, benchtime string) error {
	out, err := exec.CommandContext(ctx, "go", "test", "./"+pkg, "-run", "^$", "-bench", pattern, "-benchtime", benchtime, "-benchmem").CombinedOutput()
	if err != nil {
		return fmt.Errorf("benchmarks %s of %s: %w\n%s", pattern, pkg, err, out)
	}
	if !m.parse(string(out)) {
		return fmt.Errorf("%s has no benchmark %s", pkg, pattern)
	}
	return nil
}

// parse parses the output of go test -bench, and reports whether it contains any result.
func (m metrics) parse(out string) (any bool) {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i] // number of processors
		}
		values := map[string]float64{}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				values[f[i+1]] = v
			}
		}
		m[name], any = values, true
	}
	return any
}

// of returns one figure. It fails without one, so that a renamed benchmark is noticed.
func (m metrics) of(benchmark, unit string) (float64, error) {
	v, ok := m[benchmark][unit]
	if !ok {
		return 0, fmt.Errorf("benchmark %s reported no %s", benchmark, unit)
	}
	return v, nil
}

// A figure is a row that a Go benchmark fills.
type figure struct{ what, benchmark, unit, words, bar string }

// show adds a row for each figure.
func (b *bench) show(m metrics, figures []figure) error {
	for _, f := range figures {
		v, err := m.of(f.benchmark, f.unit)
		if err != nil {
			return err
		}
		b.add(f.what, f.bar, "%s %s", amount(v), f.words)
	}
	return nil
}

// amount formats a figure with its significant digits.
func amount(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
