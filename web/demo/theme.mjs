// The button that switches between the light and dark themes. Without a choice, the system's theme applies.
const KEY = 'tfcore-demo-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

/** Makes `button` switch the theme. Calls `changed` whenever the colours have changed. */
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
