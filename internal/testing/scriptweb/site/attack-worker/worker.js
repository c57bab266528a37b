fetch('{{other}}/secret/worker-fetch', { mode: 'no-cors' })
new WebSocket('{{other}}/secret/worker-websocket'.replace('http', 'ws'))
importScripts('{{other}}/secret/worker-import.js')
