package main

import "fmt"

// are returns "1 thing is" or "2 things are".
func are(n int, thing string) string { return verb(n, thing, "is", "are") }

// were returns "1 thing was" or "2 things were".
func were(n int, thing string) string { return verb(n, thing, "was", "were") }

func verb(n int, thing, one, many string) string {
	if n == 1 {
		return "1 " + thing + " " + one
	}
	return fmt.Sprintf("%d %ss %s", n, thing, many)
}
