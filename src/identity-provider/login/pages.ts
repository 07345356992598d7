import { createHash } from 'node:crypto'
import { escapeHtml } from '../../domain/escape-html.js'
import { PAGE_PALETTE } from '../../domain/page-palette.js'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './password-hash.js'

/**
 * The identity provider's pages: plain HTML without image or font, and without script where no
 * passkey is asked for, so that they work everywhere and the content security policy can forbid
 * everything but one inline style sheet.
 */
const STYLE = `${PAGE_PALETTE}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--bg);
color:var(--fg);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:24rem;padding:2rem;background:var(--card);border:1px solid var(--line);
border-radius:.75rem}
h1{margin:0 0 .25rem;font-size:1.375rem;line-height:1.25}
p{margin:0 0 1.25rem;color:var(--mute);overflow-wrap:anywhere}
p.error{color:var(--bad)}
ul{margin:0 0 1.25rem;padding-left:1.25rem}
label{display:block;margin:0 0 .25rem;font-weight:600}
input{width:100%;margin:0 0 1rem;padding:.625rem .75rem;font:inherit;color:inherit;
background:var(--bg);border:1px solid var(--line);border-radius:.5rem}
button{width:100%;padding:.625rem;font:inherit;font-weight:600;border-radius:.5rem;cursor:pointer;
border:1px solid var(--accent);background:var(--accent);color:var(--on-accent)}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:0 0 1.25rem}
dt{color:var(--mute)}
dd{margin:0;overflow-wrap:anywhere}
li button{width:auto;margin:.25rem 0 .75rem;padding:.125rem .5rem}
button.plain{margin-top:.75rem;background:none;border-color:var(--line);color:inherit}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * @param formTargetOrigin where a form of the page may end up after redirects (browsers apply
 *   `form-action` to the whole chain), or null for this origin alone
 */
export function contentSecurityPolicy(formTargetOrigin: string | null): string {
  const formAction = formTargetOrigin === null ? "'self'" : `'self' ${formTargetOrigin}`
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

/**
 * Of every answer that says nothing stricter, such as the page of the package by which somebody who
 * is not signed in signs out: it adds the hash of its script to `script-src`.
 */
export const DEFAULT_POLICY =
  "default-src 'none'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/**
 * For pages with a script, which is of this origin and talks to it alone.
 * @param formAction where a form of the page may go
 */
export function scriptedPagePolicy(formAction: "'none'" | "'self'" = "'none'"): string {
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; script-src 'self'; connect-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

export interface LoginPage {
  readonly interactionPath: string
  readonly clientName: string
  /** What was typed before, so that only the password must be typed again. */
  readonly email: string
  /** A sentence about the last try, or null. */
  readonly problem: string | null
}

export function loginPage(page: LoginPage): string {
  const problem =
    page.problem === null
      ? ''
      : `<p class="error" id="problem" role="alert">${escapeHtml(page.problem)}</p>`
  const describedBy = page.problem === null ? '' : ' aria-describedby="problem" aria-invalid="true"'
  return htmlDocument(
    'Sign in',
    `<h1>Sign in</h1>
<p>to continue to ${escapeHtml(page.clientName)}</p>
${problem}
<form method="post" action="${escapeHtml(page.interactionPath)}/login">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${escapeHtml(page.email)}"${page.email === '' ? ' autofocus' : ''}${describedBy}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="128"${page.email === '' ? '' : ' autofocus'}${describedBy}>
<button type="submit">Sign in</button>
</form>
${abortForm(page.interactionPath)}`,
  )
}

export interface EnrolmentPage {
  readonly action: string
  /** Path of the script that takes the code from the address. */
  readonly script: string
  /** What was sent before, or nothing. */
  readonly code: string
  /** A sentence about the last try, or null. */
  readonly problem: string | null
}

export function enrolmentPage(page: EnrolmentPage): string {
  const problem =
    page.problem === null ? '' : `<p class="error" role="alert">${escapeHtml(page.problem)}</p>`
  return htmlDocument(
    'Welcome',
    `<h1>Choose a password</h1>
<p>The code is good once, and is in the link that you were sent.</p>
${problem}
<form method="post" action="${escapeHtml(page.action)}">
<label for="code">Code</label>
<input id="code" name="code" autocomplete="one-time-code" required maxlength="64" value="${escapeHtml(page.code)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH_MIN}" maxlength="${PASSWORD_LENGTH_MAX}">
<button type="submit">Set password</button>
</form>
${page.code === '' ? `<script src="${escapeHtml(page.script)}" defer></script>` : ''}`,
  )
}

export interface ConsentPage {
  readonly interactionPath: string
  readonly clientName: string
  readonly email: string
  readonly redirectHost: string
  /** What the client will be able to do, one item each. */
  readonly abilities: readonly string[]
}

export function consentPage(page: ConsentPage): string {
  return htmlDocument(
    'Allow access',
    `<h1>Allow ${escapeHtml(page.clientName)}?</h1>
<p>Signed in as ${escapeHtml(page.email)}. It will be able to:</p>
<ul>${page.abilities.map((ability) => `<li>${escapeHtml(ability)}</li>`).join('')}</ul>
<p>You will be sent back to ${escapeHtml(page.redirectHost)}.</p>
<form method="post" action="${escapeHtml(page.interactionPath)}/consent">
<button type="submit" autofocus>Allow</button>
</form>
${abortForm(page.interactionPath)}`,
  )
}

/** @param form oidc-provider's `op.logoutForm`, already HTML */
export function logoutPage(form: string): string {
  return htmlDocument(
    'Sign out',
    `<h1>Sign out?</h1>
<p>You will be signed out of this identity provider in this browser.</p>
${form}
<button type="submit" form="op.logoutForm" name="logout" value="yes" autofocus>Sign out</button>
<button type="submit" form="op.logoutForm" class="plain">Stay signed in</button>`,
  )
}

export function messagePage(title: string, message: string): string {
  return htmlDocument(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(message)}</p>`)
}

function abortForm(interactionPath: string): string {
  return `<form method="post" action="${escapeHtml(interactionPath)}/abort">
<button type="submit" class="plain">Cancel</button>
</form>`
}

/** @param body HTML */
export function htmlDocument(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Countersign</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}
