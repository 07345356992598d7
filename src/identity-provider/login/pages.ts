import { createHash } from 'node:crypto'
import { escapeHtml } from '../../domain/escape-html.js'
import { FAVICON_LINK, wordmark } from '../../domain/page-mark.js'
import { PAGE_STYLE } from '../../domain/page-style.js'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from './password-hash.js'

/**
 * The identity provider's pages are plain HTML without images or fonts, and without scripts except
 * where a passkey is asked for. They work in every browser, and the content security policy can
 * forbid everything except one inline style sheet.
 */
const STYLE = `${PAGE_STYLE}
body{min-height:100vh;display:grid;align-content:center;justify-items:center;gap:var(--space-5);padding:var(--space-5) var(--space-4)}
main{width:100%;max-width:25rem;padding:var(--space-6)}
main.wide{max-width:40rem}
h1{margin:0 0 var(--space-1)}
p{margin:0 0 var(--space-5);color:var(--mute)}
p.error{padding:var(--space-2) var(--space-3);color:var(--bad);background:var(--bad-bg);border-radius:var(--radius)}
p.done{padding:var(--space-2) var(--space-3);color:var(--ok);background:var(--ok-bg);border-radius:var(--radius)}
p:empty{display:none}
main>:last-child,main>p:has(+script){margin-bottom:0}
ul{margin:0 0 var(--space-5);padding-left:1.25rem}
input{margin:0 0 var(--space-4)}
button{width:100%}
form+form,button+button,button+a{margin-top:var(--space-3)}
dl{margin:0 0 var(--space-5);border-top:1px solid var(--line)}
dl>div{display:grid;grid-template-columns:9.5rem 1fr;gap:var(--space-1) var(--space-4);padding:var(--space-2) 0;
border-bottom:1px solid var(--line)}
dl:empty{display:none}
h2{margin:0 0 var(--space-2);font-size:var(--text-s);color:var(--mute)}
details{margin:0 0 var(--space-5)}
summary{margin:0 0 var(--space-2);font-size:var(--text-s);color:var(--mute);cursor:pointer}
details dl{margin:0}
del{color:var(--mute)}
ins{color:var(--fg);font-weight:600;text-decoration:none}
p.left{display:flex;justify-content:space-between;padding:var(--space-2) var(--space-3);font-size:var(--text-s);
background:var(--sunk);border-radius:var(--radius)}
p.left [role=timer]{color:var(--fg);font-weight:600;font-variant-numeric:tabular-nums}
p.over{color:var(--bad);background:var(--bad-bg)}
p.over [role=timer]{color:inherit}
dl.main dd{font-size:var(--text-l);line-height:1.5rem;font-weight:600}
dl.main .id{color:inherit;font-weight:400}
dt{color:var(--mute);font-size:var(--text-s);line-height:1.5rem}
dd{margin:0}
ul.examples{padding-left:1.2em}ul.examples li{margin:.5em 0;overflow-wrap:anywhere}
ul.rows{padding:0;list-style:none;border-top:1px solid var(--line)}
.rows li{display:flex;align-items:center;justify-content:space-between;gap:var(--space-4);padding:var(--space-3) 0;
border-bottom:1px solid var(--line)}
.rows button{flex:none;width:auto}
@media(max-width:32rem){body{align-content:start}main{padding:var(--space-5) var(--space-4)}
dl>div{grid-template-columns:1fr;gap:0}}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * @param formTargetOrigin where a form of the page may end up after redirects (browsers apply
 * `form-action` to the whole chain), or null for this origin only
 */
export function contentSecurityPolicy(formTargetOrigin: string | null): string {
  const formAction = formTargetOrigin === null ? "'self'" : `'self' ${formTargetOrigin}`
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

/**
 * The policy of every answer without a stricter one, such as the package's sign-out page for a
 * visitor who is not signed in: the package adds the hash of its script to `script-src`.
 */
export const DEFAULT_POLICY =
  "default-src 'none'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/**
 * The policy of pages with a script from this origin, which connects only to this origin.
 * @param formAction where a form of the page may go
 */
export function scriptedPagePolicy(formAction: "'none'" | "'self'" = "'none'"): string {
  return `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; script-src 'self'; connect-src 'self'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`
}

/**
 * The policy of a sign-in page that offers passkeys: its script is from this origin and connects
 * nowhere.
 */
export function signInPolicy(formTargetOrigin: string | null): string {
  return `${contentSecurityPolicy(formTargetOrigin)}; script-src 'self'`
}

interface LoginPage {
  readonly interactionPath: string
  /** The data for a passkey prompt; null when passkeys are not offered. */
  readonly passkey: PasskeyAsked | null
  /** The purpose of the sign-in, such as `to decide on a call`. */
  readonly purpose: string
  /** What was typed before, so that only the password has to be typed again. */
  readonly email: string
  /** A sentence about the last attempt, or null. */
  readonly problem: string | null
}

interface PasskeyAsked {
  readonly challenge: string
  readonly rpId: string
  /** Path of the script that prompts for the passkey. */
  readonly script: string
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
<p>${escapeHtml(page.purpose)}</p>
${problem}
<form method="post" action="${escapeHtml(page.interactionPath)}/login">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${escapeHtml(page.email)}"${page.email === '' ? ' autofocus' : ''}${describedBy}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="128"${page.email === '' ? '' : ' autofocus'}${describedBy}>
<button type="submit">Sign in</button>
</form>
${page.passkey === null ? '' : passkeyForm(page.interactionPath, page.passkey)}
${abortForm(page.interactionPath)}`,
  )
}

/** The script reveals this form, which does not work without it. */
function passkeyForm(interactionPath: string, { challenge, rpId, script }: PasskeyAsked): string {
  const fields = [
    ...['credential_id', 'user_handle', 'client_data_json', 'authenticator_data', 'signature'],
  ].map((name) => `<input type="hidden" name="${name}">`)
  return `<form id="passkey" hidden data-challenge="${escapeHtml(challenge)}" data-rp-id="${escapeHtml(rpId)}" method="post" action="${escapeHtml(interactionPath)}/passkey">
${fields.join('')}
<button type="submit" class="plain">Sign in with a passkey</button>
<p id="passkey-status" role="status"></p>
</form>
<script src="${escapeHtml(script)}" defer></script>`
}

interface EnrolmentPage {
  readonly action: string
  /** Path of the script that reads the code from the address. */
  readonly script: string
  /** The code sent before, or an empty string. */
  readonly code: string
  /** A sentence about the last attempt, or null. */
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

interface ConsentPage {
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

/** @param next a link to continue with */
export function messagePage(
  title: string,
  message: string,
  next: { readonly text: string; readonly path: string } | null = null,
): string {
  const link =
    next === null ? '' : `\n<p><a href="${escapeHtml(next.path)}">${escapeHtml(next.text)}</a></p>`
  return htmlDocument(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(message)}</p>${link}`)
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
${FAVICON_LINK}
<style>${STYLE}</style>
</head>
<body>
<header>${wordmark(null)}</header>
<main class="card">
${body}
</main>
</body>
</html>
`
}
