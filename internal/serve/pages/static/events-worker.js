// Holds the connection for events of all tabs. It is closed while no tab wants it.
const ports = new Set();
let source;

onconnect = (e) => {
  const port = e.ports[0];
  port.onmessage = ({ data }) => {
    if (data.gone || !data.live) ports.delete(port);
    else ports.add(port);
    if (ports.size === 0) close();
    else open(data.url, port);
  };
};

function open(url, port) {
  if (source && source.readyState !== EventSource.CLOSED) {
    if (source.readyState === EventSource.OPEN) port.postMessage("open");
    return;
  }
  source = new EventSource(url);
  source.onopen = () => tell("open");
  source.onerror = () => {
    tell("error");
    if (source?.readyState === EventSource.CLOSED) setTimeout(() => ports.size && open(url, port), 5000);
  };
  source.addEventListener("stats", () => tell("look"));
}

function close() {
  source?.close();
  source = undefined;
}

function tell(what) { for (const port of ports) port.postMessage(what); }
