// Package calendar reads iCalendar files (RFC 5545): the events in them, as records. It takes the bytes of a file, and
// gives an Event for each VEVENT in the order of the file; what else is in there (to-dos, alarms, time zones) is passed
// over. Lines that are no content lines are passed over as well: files in the wild have them.
//
// Time and memory are in proportion to the file, and no more than MaxEvents are read from one.
package calendar
