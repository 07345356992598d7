import { PAGE_PALETTE } from './page-palette.js'

/**
 * The style of every page that people see: text, links, controls, cards, tables, pills. A page's
 * own style follows it.
 */
export const PAGE_STYLE = `${PAGE_PALETTE}
*,::before,::after{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scrollbar-color:var(--field) transparent}
body{margin:0;background:var(--bg);color:var(--fg);font:var(--text-m)/1.6 var(--font);overflow-wrap:anywhere}
h1,h2,h3{margin:0;font-weight:650;line-height:1.25;letter-spacing:-.015em;text-wrap:balance}
h1{font-size:var(--text-xl)}
h2{font-size:var(--text-l)}
h3{font-size:1rem}
p{margin:0 0 var(--space-4)}
a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:1px}
small{font-size:var(--text-s)}
small,.mute{color:var(--mute)}
code,pre,.id{font-family:var(--mono);font-size:var(--text-s);line-height:1.6}
:focus-visible{outline:var(--focus);outline-offset:2px;border-radius:var(--radius-s)}
.id{color:var(--mute);overflow-wrap:anywhere}
.wordmark{display:inline-flex;align-items:center;gap:var(--space-2);color:var(--fg);font-size:1rem;font-weight:650;
letter-spacing:-.015em;text-decoration:none;white-space:nowrap}
.wordmark svg{display:block;width:1.625rem;height:1.625rem;fill:none;stroke:currentColor;stroke-width:1.75}
.wordmark .both{fill:var(--accent);stroke:none}
.card{background:var(--card);border:1px solid var(--line);border-radius:var(--radius-l);box-shadow:var(--shadow)}
label{display:block;margin:0 0 var(--space-1);font-size:var(--text-s);font-weight:600}
input{width:100%;min-height:2.5rem;padding:var(--space-2) var(--space-3);font:400 1rem/1.5 var(--font);color:inherit;
background:var(--card);border:1px solid var(--field);border-radius:var(--radius)}
input::placeholder{color:var(--mute);opacity:1}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.5rem;
padding:var(--space-2) var(--space-4);font:inherit;font-weight:600;line-height:1.25;text-decoration:none;
border:1px solid transparent;border-radius:var(--radius);background:var(--accent);color:var(--on-accent);cursor:pointer}
button:hover,.button:hover{filter:brightness(1.08)}
button:disabled{opacity:.6;cursor:progress}
.plain{background:var(--card);border-color:var(--field);color:var(--fg)}
.plain:hover{filter:none;background:var(--hover)}
.danger{background:var(--card);border-color:var(--bad);color:var(--bad)}
.danger:hover{filter:none;background:var(--bad-bg)}
.small{min-height:1.75rem;padding:0 var(--space-3);font-size:var(--text-s);border-radius:var(--radius-s)}
.pill{display:inline-block;padding:.0625rem var(--space-2);font-size:var(--text-xs);font-weight:600;line-height:1.5;
border-radius:1rem;background:var(--hover);color:var(--fg);white-space:nowrap}
.pill.ok{background:var(--ok-bg);color:var(--ok)}
.pill.warn{background:var(--warn-bg);color:var(--warn)}
.pill.bad{background:var(--bad-bg);color:var(--bad)}
.pill.info{background:var(--accent-bg);color:var(--accent)}
table{border-collapse:collapse;width:100%;font-size:var(--text-s)}
td,th{padding:var(--space-2) var(--space-4) var(--space-2) 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line)}
th{font-size:var(--text-xs);font-weight:600;color:var(--mute)}
@media(prefers-reduced-motion:no-preference){button,.button,.card{transition:background-color .12s,border-color .12s}}
`
