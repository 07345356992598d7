/**
 * The tokens of every page that people see (start page, reference, sign-in, confirmation, console):
 * light and dark colours, type, space and shape. Text in `--fg`, `--mute`, `--accent`, `--ok`,
 * `--warn` and `--bad` has a contrast of at least 4.5 on `--bg`, on `--card` and on its own `-bg`;
 * `--field` outlines a control and has at least 3.
 */
export const PAGE_PALETTE = `
:root{color-scheme:light dark;
--bg:#f8f9fb;--card:#fff;--sunk:#f1f3f6;--hover:#eef0f4;
--fg:#14171f;--mute:#586070;--line:#e1e4ea;--field:#868d9b;
--accent:#3650d6;--accent-bg:#ebeefd;--on-accent:#fff;
--ok:#0a6b45;--ok-bg:#e2f4ea;--warn:#854d00;--warn-bg:#fcf0d9;--bad:#b01e2b;--bad-bg:#fce9ea;--on-bad:#fff;
--font:ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'Liberation Mono',monospace;
--text-xs:.75rem;--text-s:.8125rem;--text-m:.9375rem;--text-l:1.125rem;--text-xl:1.5rem;--text-xxl:2.125rem;
--space-1:.25rem;--space-2:.5rem;--space-3:.75rem;--space-4:1rem;--space-5:1.5rem;--space-6:2rem;--space-7:3rem;
--radius-s:.375rem;--radius:.625rem;--radius-l:.875rem;
--shadow:0 1px 2px rgb(16 24 40/.05),0 8px 24px -12px rgb(16 24 40/.12);
--focus:2px solid var(--accent)}
@media(prefers-color-scheme:dark){:root{
--bg:#0d0f14;--card:#15181f;--sunk:#10131a;--hover:#1d212a;
--fg:#eceef3;--mute:#9aa3b2;--line:#272c37;--field:#6d7686;
--accent:#93a4ff;--accent-bg:#1d2340;--on-accent:#0b0f20;
--ok:#6fd3a2;--ok-bg:#12291f;--warn:#f0bb67;--warn-bg:#2e2413;--bad:#ff9b9f;--bad-bg:#33191c;--on-bad:#2a0a0c;
--shadow:0 1px 2px rgb(0 0 0/.4),0 12px 32px -16px rgb(0 0 0/.6)}}
`
