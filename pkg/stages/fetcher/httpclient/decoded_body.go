package httpclient

// decodedBody is a body that came encoded, as it is decoded. Its memory is used again for other bodies.
type decodedBody struct {
	data []byte
	held bool // all of it; otherwise its end
	pool decodedPool
}

// decodedPool keeps memory for later bodies, at most streamFrom each. A sync.Pool would lose it to the collector, whose work it saves.
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

// makeRoom makes the memory as large as it says. If that is no more than it is, the body is not held: the bytes read so far are
// overwritten.
func (d *decodedBody) makeRoom(size int64) {
	if d.held = d.held && size > int64(cap(d.data)); !d.held {
		d.data = d.data[:0]
		return
	}
	grown := make([]byte, len(d.data), size)
	copy(grown, d.data)
	d.data = grown
}

// release gives the memory to other bodies, unless it is much.
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
