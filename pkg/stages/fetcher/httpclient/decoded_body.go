package httpclient

// decodedBody holds a decoded body. Its memory is reused for other bodies.
type decodedBody struct {
	data []byte
	held bool // data is the whole body; otherwise only its end
	pool decodedPool
}

// decodedPool keeps memory for later bodies, at most streamFrom each. A sync.Pool would lose it to
// the garbage collector, whose work it saves.
type decodedPool chan *decodedBody

func newDecodedPool() decodedPool { return make(decodedPool, 8) }

// firstDecoded is the size of the first buffer of a decoded body: most pages fit after one or two doublings.
const firstDecoded = 128 << 10

func (p decodedPool) get() *decodedBody {
	select {
	case d := <-p:
		return d
	default:
		return &decodedBody{data: make([]byte, 0, firstDecoded), pool: p}
	}
}

// makeRoom grows the memory to size. If that is not larger than the present capacity, the body is
// no longer held: later reads overwrite the data.
func (d *decodedBody) makeRoom(size int64) {
	if d.held = d.held && size > int64(cap(d.data)); !d.held {
		d.data = d.data[:0]
		return
	}
	grown := make([]byte, len(d.data), size)
	copy(grown, d.data)
	d.data = grown
}

// release returns the memory to the pool, unless it is too large.
func (d *decodedBody) release() {
	if cap(d.data) > streamFrom {
		return
	}
	d.data = d.data[:0]
	select {
	case d.pool <- d:
	default:
	}
}
