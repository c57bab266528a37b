package messages

import (
	"fmt"
	"time"

	"seine/internal/base/jsontext"
)

// Era is an era of the cluster: see KeyEra.
type Era struct {
	Number uint64 `json:"era"`
	// Began is when it began, by the clock of the servers; zero for era 0. The last era has the
	// time of the key.
	Began time.Time `json:"began,omitzero"`
}

// Eras are the eras of a cluster, in order. Without any, the era is 0.
type Eras []Era

// maxEras is how many eras are kept.
const maxEras = 100

// DecodeEras decodes the value of KeyEra, which was stored at written.
func DecodeEras(text []byte, written time.Time) (e Eras, err error) {
	if err := jsontext.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("eras: %w", err)
	}
	if e.Last() > MaxEra {
		return nil, fmt.Errorf("eras: %d is beyond %d", e.Last(), MaxEra)
	}
	if len(e) > 0 {
		e[len(e)-1].Began = written
	}
	return e, nil
}

// Last returns the number of the current era.
func (e Eras) Last() uint64 {
	if len(e) == 0 {
		return 0
	}
	return e[len(e)-1].Number
}

// At returns the number of the era in which a message was stored, by the clock of the servers.
func (e Eras) At(stored time.Time) uint64 {
	for i := len(e) - 1; i > 0; i-- {
		if !stored.Before(e[i].Began) {
			return e[i].Number
		}
	}
	if len(e) == 0 {
		return 0
	}
	return e[0].Number
}

// Begin returns the eras with a new one added. Its number is the given one or, if that is not new,
// the next.
func (e Eras) Begin(number uint64) Eras {
	if len(e) == 0 {
		e = Eras{{}}
	}
	e = append(e[max(0, len(e)-maxEras+1):len(e):len(e)], Era{Number: max(number, e.Last()+1)})
	return e
}
