onconnect = event => event.ports[0].postMessage('sent by the ' + 'shared worker')
