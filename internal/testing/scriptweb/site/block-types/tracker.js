document.body.append('tracked by ' + 'the other script')
