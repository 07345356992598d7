/** The colours of every page that people see: sign-in, confirmation, start page and reference. */
export const PAGE_PALETTE = `
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--fg:#16191d;--mute:#565e6a;--line:#c9ced6;
--accent:#1f5fd0;--on-accent:#fff;--bad:#a8181f}
@media (prefers-color-scheme:dark){:root{--bg:#101317;--card:#191d23;--fg:#eceff3;--mute:#a3adba;
--line:#3c444f;--accent:#7eaaff;--on-accent:#0b1220;--bad:#ff9a9a}}
`
