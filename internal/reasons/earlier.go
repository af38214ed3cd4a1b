// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reasons

import (
	_ "embed"
	"strings"

	"github.com/reeve-run/reeve/api"
)

//go:embed earlier.txt
var earlierText string

// sentences finds the reasons of one noun's sentences.
type sentences struct {
	exact    map[string]api.Reason
	patterns []pattern
}

// A pattern matches sentences that have parameters between prefix and suffix.
type pattern struct {
	prefix, suffix string
	reason         api.Reason
}

// earlier holds the sentences of earlier versions by noun.
var earlier = parseEarlier(earlierText)

func parseEarlier(text string) map[string]*sentences {
	nouns := map[string]*sentences{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		noun, rest, _ := strings.Cut(line, " ")
		name, sentence, _ := strings.Cut(rest, " ")
		var reason api.Reason
		if err := reason.UnmarshalText([]byte(name)); err != nil || reason == 0 {
			panic("earlier.txt has an unknown reason: " + line)
		}
		if nouns[noun] == nil {
			nouns[noun] = &sentences{exact: map[string]api.Reason{}}
		}
		nouns[noun].add(strings.TrimLeft(sentence, " "), reason)
	}
	return nouns
}

func (s *sentences) add(sentence string, reason api.Reason) {
	if prefix, suffix, ok := strings.Cut(sentence, "*"); ok {
		s.patterns = append(s.patterns, pattern{prefix, suffix, reason})
		return
	}
	s.exact[sentence] = reason
}

// find returns the reason of a sentence, or 0 if no earlier version wrote it.
func (s *sentences) find(sentence string) api.Reason {
	if reason, ok := s.exact[sentence]; ok {
		return reason
	}
	for _, p := range s.patterns {
		if strings.HasPrefix(sentence, p.prefix) && strings.HasSuffix(sentence, p.suffix) {
			return p.reason
		}
	}
	return 0
}
