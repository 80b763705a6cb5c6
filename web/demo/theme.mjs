// The button that changes between the light and the dark theme. Without a choice the system's theme holds.
const KEY = 'tfcore-demo-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

/** Makes `button` change the theme; calls `changed` whenever the colours are others. */
export function themeButton(button, changed = () => {}) {
  let chosen = localStorage.getItem(KEY);
  const apply = () => {
    const dark = chosen ? chosen === 'dark' : systemDark.matches;
    document.documentElement.style.colorScheme = chosen ?? '';
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Change to the ${dark ? 'light' : 'dark'} theme`);
    changed();
    return dark;
  };
  button.addEventListener('click', () => {
    chosen = apply() ? 'light' : 'dark';
    localStorage.setItem(KEY, chosen);
    apply();
  });
  systemDark.addEventListener('change', apply);
  apply();
}
