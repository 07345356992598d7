import { type Authorizer, authorizerName } from '../../custody/authorizers/authorizer.js'
import { LABEL_CHARS_MAX } from '../../custody/authorizers/certificate.js'
import type { Confirmable } from '../../custody/authorizers/confirmable.js'
import { escapeHtml } from '../../domain/escape-html.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { htmlDocument } from '../login/pages.js'
import { base64Url } from './wire.js'

export const SCRIPT_PATH = '/authorizers/page.js'

export interface ManagePage {
  readonly email: string
  readonly rpId: string
  readonly signInPath: string
  readonly authorizers: readonly Authorizer[]
}

export function managePage(page: ManagePage): string {
  const items = page.authorizers.map(
    ({ id, kind, label, createdAtMs }) =>
      `<li>${escapeHtml(label)} (${kind === 'passkey' ? 'passkey' : 'P-256 key'}, since ${new Date(createdAtMs).toISOString().slice(0, 10)})<br>
<button type="button" class="plain" data-remove="${authorizerName(id)}">Remove</button></li>`,
  )
  const list =
    items.length === 0
      ? '<p>You have none yet. The first one you add is the one that later ones are confirmed with.</p>'
      : `<ul>${items.join('\n')}</ul>`
  return scriptedPage(
    'Your authorizers',
    { 'rp-id': page.rpId, 'sign-in': page.signInPath },
    `<h1>Your authorizers</h1>
<p>${escapeHtml(page.email)}: they confirm what your API keys may do.</p>
${list}
<label for="label">Name of a new passkey</label>
<input id="label" maxlength="${LABEL_CHARS_MAX}" value="Passkey ${page.authorizers.length + 1}">
<button type="button" id="add">Add a passkey</button>`,
  )
}

export interface ConfirmPage {
  readonly email: string
  readonly rpId: string
  readonly signInPath: string
  readonly asked: Confirmable
}

const CONFIRM_WORDS = {
  grant: { title: 'Confirm a grant', heading: 'Confirm what this API key may do' },
  approval: { title: 'Approve a call', heading: 'Approve this one call' },
  unfreeze: { title: 'Lift a freeze', heading: 'Confirm that signing goes on' },
} as const satisfies Record<Confirmable['kind'], object>

export function confirmPage(page: ConfirmPage): string {
  const { kind, encoded, message, lines } = page.asked
  const { title, heading } = CONFIRM_WORDS[kind]
  const rows = lines.map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  )
  return scriptedPage(
    title,
    {
      'rp-id': page.rpId,
      'sign-in': page.signInPath,
      grant: base64Url(encoded),
      challenge: base64Url(sha256(message)),
    },
    `<h1>${heading}</h1>
<p>Signed in as ${escapeHtml(page.email)}. Confirm it only if you asked for it just now.</p>
<dl>${rows.join('\n')}</dl>
<button type="button" id="confirm">Confirm with a passkey</button>`,
  )
}

/** @param data attributes of `main`, for the script */
export function scriptedPage(
  title: string,
  data: Readonly<Record<string, string>>,
  body: string,
): string {
  const attributes = Object.entries(data).map(
    ([name, value]) => ` data-${name}="${escapeHtml(value)}"`,
  )
  const status = `<p id="status" role="status"></p>\n<script src="${SCRIPT_PATH}" defer></script>`
  const main = `<main${attributes.join('')}>`
  return htmlDocument(title, `${body}\n${status}`).replace('<main>', () => main)
}
