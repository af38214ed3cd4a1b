// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package limit

// A Class is a class of requests that share a limit, because they cost the same.
type Class uint8

// Classes of requests.
const (
	None   Class = iota // no limit
	Login               // logins, and other requests that give a token to a stranger
	Token               // requests with a token that is not valid
	Parse               // parse and validate job files
	Plan                // compute what a change would do
	Search              // search in all kinds of objects
	Exec                // begin commands in tasks
	Files               // read files and logs of tasks
	end
)

// classes are the names and default rates. Their bursts are what many pipelines behind one token send at the
// same time, or an office behind one address in the morning.
var classes = [end]struct {
	name string
	rate Rate
}{
	Login:  {"login", Rate{5, 100}},
	Token:  {"token", Rate{20, 200}},
	Parse:  {"parse", Rate{50, 500}},
	Plan:   {"plan", Rate{20, 200}},
	Search: {"search", Rate{50, 500}},
	Exec:   {"exec", Rate{20, 200}},
	Files:  {"files", Rate{100, 1000}},
}

// String returns the name of the class in configurations and metrics.
func (c Class) String() string { return classes[c].name }

// Default returns the rate of the class unless the configuration has another one.
func (c Class) Default() Rate { return classes[c].rate }

// Classes returns all classes that have a limit.
func Classes() []Class {
	all := make([]Class, 0, end)
	for c := None + 1; c < end; c++ {
		all = append(all, c)
	}
	return all
}

// Named returns the class of a name.
func Named(name string) (Class, bool) {
	for _, c := range Classes() {
		if c.String() == name {
			return c, true
		}
	}
	return None, false
}
