// Command stage is a stage beside those of Seine: it writes a line with title and address for each page of all crawls.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"seine/pkg/command"
	"seine/pkg/messages"
	"seine/pkg/stages"
)

func main() {
	os.Exit(command.Stage(command.StageConfig{
		Name: "titles", About: "Writes the titles of pages.", Stream: messages.StreamRecords, Handle: title,
	}))
}

// title writes the title and the address of a page. Messages that it returns are published before the record is acknowledged.
func title(_ context.Context, m *stages.Message) ([]*nats.Msg, error) {
	var r messages.Record
	if err := json.Unmarshal(m.Data, &r); err != nil { //nolint:forbidigo // as other modules do
		return nil, stages.PoisonError(err) // the record goes to DEAD
	}
	_, err := fmt.Printf("%s\t%s\n", r.Title, r.URL)
	return nil, err
}
