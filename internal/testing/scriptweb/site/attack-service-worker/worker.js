importScripts('{{other}}/secret/service-worker-import.js')
addEventListener('install', event => event.waitUntil(Promise.all([skipWaiting(), fetch('{{other}}/secret/service-worker-install', { mode: 'no-cors' }).catch(() => {})])))
addEventListener('activate', event => event.waitUntil(fetch('{{other}}/secret/service-worker-activate', { mode: 'no-cors' }).catch(() => {})))
