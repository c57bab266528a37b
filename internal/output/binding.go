package output

import "time"

// Binding says what the name of a writer stands for: a second place or form under one name would get some of the partitions, and each
// would have a part of the output. It is a key of messages.BucketMeta, made by the first writer of the name and changed by
// compare-and-set.
type Binding struct {
	V     int       `json:"v"`
	Place string    `json:"place"` // the name of the place
	Out   string    `json:"out"`   // as the first writer was given it, for a person; without secrets
	Host  string    `json:"host"`  // of that writer
	Since time.Time `json:"since"`
	From  string    `json:"from"`
	Form            // of files; for whom they are encrypted is each writer's own: recipients come and go
}
