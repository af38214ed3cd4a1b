// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const compatibilityPage = "../../docs/compatibility.md"

var routeInPage = regexp.MustCompile("`((?:GET|PUT|DELETE|PATCH) /[^`]+)`")

// pageSection returns the lines of a section of the page.
func pageSection(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(compatibilityPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no section %q", heading)
	}
	body, _, _ := strings.Cut(rest, "\n#")
	return strings.Split(body, "\n")
}

// The page says of each of Nomad's routes what is so, and of each of ours that it
// is one.
func TestCompatibilityPageHasTheRoutesThatThereAre(t *testing.T) {
	there, told := map[string]bool{}, map[string]bool{}
	for _, r := range routes() {
		there[r.Method+" "+r.Pattern] = true
	}
	tell := func(route string, want bool) {
		if told[route] {
			t.Errorf("%s is on the page twice", route)
		}
		told[route] = true
		if there[route] != want {
			t.Errorf("the page says %v of whether there is %s", want, route)
		}
	}
	for _, line := range pageSection(t, "## Routes") {
		if route, verdict := tableRow(line); route != "" {
			tell(strings.Trim(route, "`"), verdict != "refused")
		}
	}
	for _, line := range pageSection(t, "### Routes that Nomad has not") {
		if route := routeInPage.FindStringSubmatch(line); route != nil {
			tell(route[1], true)
		}
	}
	for route := range there {
		if !told[route] {
			t.Errorf("the page does not have %s", route)
		}
	}
}

// A command works through routes that there are, and is refused for want of them.
func TestCompatibilityPageHasCommandsThatHaveTheirRoutes(t *testing.T) {
	there := map[string]bool{}
	for _, r := range routes() {
		there[r.Method+" "+r.Pattern] = true
	}
	rows := 0
	for _, line := range pageSection(t, "## Commands") {
		command, verdict := tableRow(line)
		if command == "" || strings.HasPrefix(command, "`nomad`") {
			continue
		}
		rows++
		for _, route := range routeInPage.FindAllStringSubmatch(line, -1) {
			if there[route[1]] != (verdict != "refused") {
				t.Errorf("%s is said to be %s: there is %s: %v", command, verdict, route[1], there[route[1]])
			}
		}
	}
	if rows < 30 {
		t.Errorf("the page has %d rows of commands", rows)
	}
}

// tableRow takes the first two cells of a row that says a verdict.
func tableRow(line string) (first, verdict string) {
	cells := strings.Split(line, "|")
	if len(cells) < 4 {
		return "", ""
	}
	first, verdict = strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
	if !slices.Contains([]string{"works", "differs", "refused"}, verdict) {
		return "", ""
	}
	return first, verdict
}
