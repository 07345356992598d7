import { PAGE_PALETTE } from '../domain/page-palette.js'

/** The style of the start page and of the reference, in the colours of the sign-in pages. */
export const DOCS_STYLE = `${PAGE_PALETTE}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--fg);font:1rem/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
a{color:var(--accent)}
h1{margin:0 0 .25rem;font-size:1.75rem;line-height:1.25}
h2{margin:2.5rem 0 .5rem;font-size:1.375rem}
h3{margin:0 0 .5rem;font-size:1.0625rem}
p{margin:0 0 1rem}
small,.mute{color:var(--mute)}
code,pre{font:.8125rem/1.5 ui-monospace,monospace}
.code{position:relative;margin:0 0 1rem}
.code button{position:absolute;top:.375rem;right:.375rem;padding:.125rem .5rem;font:inherit;font-size:.75rem;
color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.375rem;cursor:pointer}
pre{margin:0;padding:.75rem 4rem .75rem .75rem;overflow:auto;background:var(--card);border:1px solid var(--line);
border-radius:.5rem;overflow-wrap:normal}
.scroll{overflow-x:auto;margin:0 0 1rem}
table{border-collapse:collapse;width:100%;font-size:.875rem}
td,th{padding:.375rem .75rem .375rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
td:first-child{overflow-wrap:normal}
i{font:600 .6875rem ui-monospace,monospace;text-transform:uppercase;color:var(--mute)}
input{width:100%;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--line);border-radius:.5rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.start{max-width:60rem;margin:0 auto;padding:2.5rem 1.5rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:1rem;margin:1.5rem 0;padding:0;
list-style:none}
.cards a{display:block;height:100%;padding:1.25rem;color:inherit;text-decoration:none;background:var(--card);
border:1px solid var(--line);border-radius:.75rem}
.cards a:hover{border-color:var(--accent)}
.cards b{display:block;color:var(--accent)}
.reference{display:flex}
.reference main{flex:1;min-width:0;max-width:58rem;padding:1.5rem 2.5rem}
.reference nav{position:sticky;top:0;flex:0 0 18rem;height:100vh;padding:1.25rem;overflow:auto;
border-right:1px solid var(--line)}
nav summary{display:none}
nav b{display:block;margin:1rem 0 .25rem}
nav a{display:block;padding:.125rem 0;color:inherit;font-size:.8125rem;text-decoration:none}
nav a:hover{text-decoration:underline}
section{padding:1rem 0;border-top:1px solid var(--line)}
@media(max-width:50rem){.reference{display:block}
.reference nav{position:static;height:auto;padding:.75rem 1rem;border:0;border-bottom:1px solid var(--line)}
nav summary{display:block;padding:.5rem 0;font-weight:600;cursor:pointer}
nav summary::before{content:'\\2630  '}
pre{padding-top:2.25rem}
nav a{padding:.375rem 0}
.reference main{padding:1rem}.start{padding:1.5rem 1rem}}
`
