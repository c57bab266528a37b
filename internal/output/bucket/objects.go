package bucket

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"seine/internal/output"
)

// objectSends is the number of objects that a partition sends at a time.
const objectSends = 8

// objects are objects of one record each. They are built in one unnamed file and sent when the
// commit begins. So, as in package dir, an object can be visible before the entry that names it.
//
// # Concurrent owners
//
// A former owner that was frozen can send an object long after the next owner has sent a newer one
// of the same key. It must not restore the old one. So each object has the message it was made from
// in its metadata, and is replaced only by an object of a later message of its partition, or of
// another partition. The sender reads the existing object's metadata and stores over it only if it
// is unchanged (If-Match). An object made from the same message is kept, and the entry names it
// unchanged. Then it does not matter which process sent an object, when, or how often. The former
// owner may have sent an object whose message the next owner has not reached; readers will see that
// object anyway.
//
// Between two partitions the later request wins: records that share a key should be of one domain.
//
// Two things break this: a service that ignores If-Match on PutObject (one that refuses it is
// reported); and a key that was replaced twice, the second time by the same bytes that a frozen
// owner has read, which it then replaces.
type objects struct {
	part  *partition
	name  output.Name
	spool *os.File
	size  int64
	kept  map[string]keptObject // by path
}

// keptObject is an object in the spool.
type keptObject struct {
	output.Object
	at, size int64
	sum      []byte
}

// Objects implements output.ObjectPartition.
func (d *partition) Objects(n output.Name) (output.Objects, error) {
	f, err := d.sink.nameless()
	if err != nil {
		return nil, fmt.Errorf("begin objects: %w", err)
	}
	return &objects{part: d, name: n, spool: f, kept: make(map[string]keptObject)}, nil
}

// Put implements output.Objects.
func (o *objects) Put(obj output.Object, write func(io.Writer) error) error {
	c := output.NewContent(o.spool, o.part.sink.hook)
	if err := write(&c); err != nil {
		_, back := o.spool.Seek(o.size, io.SeekStart) // overwrite the partial object
		return fmt.Errorf("write object: %w", errors.Join(err, back))
	}
	o.kept[obj.Path] = keptObject{Object: obj, at: o.size, size: c.Size(), sum: c.Sum()}
	o.size += c.Size()
	return nil
}

// Finish implements output.Objects.
func (o *objects) Finish() ([]output.File, error) {
	h := o.part.sink.hook
	if err := h.At(output.StepSynced); err != nil {
		return nil, err
	}
	paths := slices.Sorted(maps.Keys(o.kept))
	files := make([]output.File, len(paths))
	var taken atomic.Bool
	var g errgroup.Group
	g.SetLimit(objectSends)
	for i, p := range paths {
		g.Go(func() (err error) {
			files[i], err = o.send(o.kept[p], &taken)
			return errors.Join(err, h.At(output.StepRenamed))
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("send objects: %w", err)
	}
	files = slices.DeleteFunc(files, func(f output.File) bool { return f.Path == "" })
	return files, h.At(output.StepFinished)
}

// send stores an object, or finds it stored already. It returns no file if an object of a later
// message exists.
func (o *objects) send(k keptObject, taken *atomic.Bool) (output.File, error) {
	s := o.part.sink
	made := o.name
	made.First = k.Sequence
	f := output.File{Path: k.Path, Crawl: k.Crawl, Kind: k.Kind, Records: 1, RawBytes: k.RawBytes, Bytes: k.size, SHA256: hex.EncodeToString(k.sum)}
	key, etag := s.prefix+k.Path, ""
	// Keys that are in use come together: a crawl that is repeated.
	for try, look := 0, taken.Load(); try < replaceTries; try, look = try+1, true {
		if look {
			have, err := s.client.head(key)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return f, err
			}
			switch place := compareMade(have.made, made); {
			case place > 0:
				return output.File{}, nil
			case place == 0 && have.sum != "":
				f.Bytes, f.SHA256 = have.size, have.sum
				return f, nil
			}
			etag = have.etag
		}
		body := io.NewSectionReader(o.spool, k.at, k.size)
		err := s.client.replace(key, body, &k, made.String(), etag)
		if !errors.Is(err, output.ErrExists) && !errors.Is(err, os.ErrNotExist) {
			return f, err
		}
		taken.Store(true)
	}
	return f, fmt.Errorf("%s: other writers keep replacing it", k.Path)
}

// replaceTries bounds the attempts to replace an object that others replace at the same time.
const replaceTries = 10

// compareMade compares the messages that two objects were made from. It is negative if they have no
// order.
func compareMade(have string, made output.Name) int {
	n, _, ok := output.ParseName(have + ".x")
	if !ok || n.Partition != made.Partition {
		return -1
	}
	return n.Compare(made)
}

// Abandon implements output.Objects.
func (o *objects) Abandon() { _ = o.spool.Close() }

var (
	_ output.ObjectPartition = (*partition)(nil)
	_ output.Objects         = (*objects)(nil)
)
