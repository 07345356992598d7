import { PAGE_STYLE } from '../domain/page-style.js'

/** The style of the start page and of the reference. */
export const DOCS_STYLE = `${PAGE_STYLE}
html{scroll-padding-top:1.5rem}
.bar{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:var(--space-2) var(--space-5)}
.bar nav{display:flex;flex-wrap:wrap;gap:var(--space-1) var(--space-5);font-size:var(--text-s)}
.bar nav a{padding:var(--space-1) 0;color:var(--mute);text-decoration:none}
.bar nav a:hover{color:var(--fg)}
.code{position:relative;margin:0 0 var(--space-4)}
.code button{position:absolute;top:var(--space-2);right:var(--space-2);min-height:1.75rem;
padding:0 var(--space-2);font-size:var(--text-xs);color:var(--mute);background:var(--card);border-color:var(--line);
border-radius:var(--radius-s)}
.code button:hover{color:var(--fg);filter:none}
pre{margin:0;padding:var(--space-3) 4.5rem var(--space-3) var(--space-4);overflow:auto;scrollbar-width:thin;background:var(--sunk);
border:1px solid var(--line);border-radius:var(--radius);overflow-wrap:normal}
p code,td code,li code{padding:.0625rem .3125rem;background:var(--hover);border-radius:.25rem;font-size:.85em}
.scroll{overflow-x:auto;margin:0 0 var(--space-4)}
td:first-child{overflow-wrap:normal;font-family:var(--mono)}
td:first-child small{font-family:var(--font);font-size:var(--text-xs)}
.start{max-width:64rem;margin:0 auto;padding:var(--space-5)}
.start h1{max-width:18em;margin:var(--space-7) 0 var(--space-3);font-size:var(--text-xxl);letter-spacing:-.03em}
.start h2{margin:var(--space-7) 0 var(--space-2)}
.lead{max-width:40em;font-size:var(--text-l);color:var(--mute)}
.actions{display:flex;flex-wrap:wrap;gap:var(--space-3);margin:var(--space-5) 0 0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(17rem,100%),1fr));gap:var(--space-3);
margin:var(--space-7) 0 0;padding:0;list-style:none}
.cards a{display:block;height:100%;padding:var(--space-4) var(--space-5);color:var(--mute);font-size:var(--text-s);
text-decoration:none}
.cards a:hover{border-color:var(--accent)}
.cards b{display:block;margin:0 0 var(--space-1);color:var(--fg);font-size:var(--text-m);font-weight:600}
.cards a:hover b{color:var(--accent)}
.start footer{margin:var(--space-7) 0 0;padding:var(--space-4) 0;border-top:1px solid var(--line);
font-size:var(--text-s);color:var(--mute)}
.reference{display:flex}
.reference main{flex:1;min-width:0;max-width:60rem;padding:var(--space-6) var(--space-7)}
.reference h1{margin:0 0 var(--space-3);font-size:var(--text-xxl)}
.reference main>h2{margin:var(--space-7) 0 var(--space-2);font-size:var(--text-xl)}
.side{position:sticky;top:0;flex:0 0 18.5rem;height:100vh;padding:var(--space-5) var(--space-4);overflow:auto;scrollbar-width:thin;
border-right:1px solid var(--line);background:var(--card)}
.side summary{display:none}
.side label{margin:var(--space-4) 0 0}
.side b{display:block;margin:var(--space-5) var(--space-2) var(--space-1);font-size:var(--text-xs);color:var(--mute);
font-weight:600}
.side details a:not(.wordmark){display:flex;align-items:baseline;justify-content:space-between;gap:var(--space-2);
padding:.25rem var(--space-2);color:inherit;font-size:var(--text-s);line-height:1.4;text-decoration:none;
border-radius:var(--radius-s)}
.side details a:hover{background:var(--hover)}
.side input{min-height:2.25rem;font-size:var(--text-s)}
#found{display:block;min-height:1.25rem;padding:0 var(--space-2);font-size:var(--text-xs)}
i{font:600 .6875rem/1.4 var(--mono);text-transform:uppercase;color:var(--mute)}
i.get{color:var(--ok)}
i.post{color:var(--accent)}
i.patch,i.put{color:var(--warn)}
i.delete{color:var(--bad)}
section{padding:var(--space-5) 0;border-top:1px solid var(--line)}
section h3{margin:0 0 var(--space-2);font-size:var(--text-l)}
section summary{padding:var(--space-1) 0;font-size:var(--text-s);font-weight:600;color:var(--mute);cursor:pointer}
@media(max-width:50rem){.start{padding:var(--space-4)}
.start h1{margin-top:var(--space-6);font-size:1.75rem}
.start h2,.cards,.start footer{margin-top:var(--space-6)}
.reference{display:block}
.side{position:static;height:auto;padding:var(--space-3) var(--space-4);border:0;
border-bottom:1px solid var(--line)}
.side summary{display:block;padding:var(--space-2) 0;font-weight:600;cursor:pointer}
.side summary::before{content:'\\2630  '}
.side details a:not(.wordmark){padding:var(--space-2)}
pre{padding:2.5rem var(--space-3) var(--space-3)}
.reference main{padding:var(--space-5) var(--space-4)}}
`
