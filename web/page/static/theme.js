// Sets the theme before anything is painted: a classic script, since modules run after the first paint may have happened.
try {
  const theme = JSON.parse(localStorage.getItem('pathwise') ?? '{}').theme;
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is closed to this page, or holds something else: the system's theme it is.
}
