document.documentElement.classList.add('js') // shows the menu as a button
