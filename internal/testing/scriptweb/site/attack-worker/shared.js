fetch('{{other}}/secret/worker-shared', { mode: 'no-cors' })
