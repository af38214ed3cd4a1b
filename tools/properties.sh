#!/bin/sh
# Checks every property of the repository so many times, on new random input. A
# failure is printed with the seed that shows it again.
set -eu
checks=${1:-2000}
grep -rlF 'rapid.Check(' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
	tests=$(cat "$dir"/*_test.go | awk '/^func Test/ { name = $2; sub(/\(.*/, "", name) } /rapid\.Check\(/ { print name }' | sort -u | paste -sd'|')
	echo "== $dir $tests"
	go test "$dir" -run "^($tests)\$" -rapid.checks "$checks" -timeout 2h
done
