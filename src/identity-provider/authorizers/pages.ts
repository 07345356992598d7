import { type Authorizer, authorizerName } from '../../custody/authorizers/authorizer.js'
import { LABEL_CHARS_MAX } from '../../custody/authorizers/certificate.js'
import { escapeHtml } from '../../domain/escape-html.js'
import { htmlDocument } from '../login/pages.js'

export const SCRIPT_PATH = '/authorizers/page.js'

interface ManagePage {
  readonly email: string
  readonly rpId: string
  readonly signInPath: string
  readonly authorizers: readonly Authorizer[]
}

export function managePage(page: ManagePage): string {
  const items = page.authorizers.map(
    ({ id, kind, label, createdAtMs }) =>
      `<li><span>${escapeHtml(label)} (${kind === 'passkey' ? 'passkey' : 'P-256 key'}, since ${new Date(createdAtMs).toISOString().slice(0, 10)})</span>
<button type="button" class="danger small" data-remove="${authorizerName(id)}">Remove</button></li>`,
  )
  const list =
    items.length === 0
      ? '<p>You have none yet. You will confirm later ones with the first one you add.</p>'
      : `<ul class="rows">${items.join('\n')}</ul>`
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

/** Matches ids and bytes, which are set in another type than words. */
const ID = /\b(?:0x[0-9a-f]{16,}|(?:key|sw|apr|aut)_[0-9A-Z]{26})\b/gi

/** Renders a line of the confirmation as HTML. */
export function rowHtml([name, value]: readonly [name: string, value: string]): string {
  return `<div><dt>${escapeHtml(name)}</dt><dd>${valueHtml(value)}</dd></div>`
}

export function valueHtml(value: string): string {
  return escapeHtml(value).replace(ID, '<span class="id">$&</span>')
}

/** Renders the time left to decide, which the script counts down. */
export function timeLeft(untilMs: number, nowMs: number): string {
  const minutes = Math.max(0, Math.floor((untilMs - nowMs) / 60_000))
  return `<p class="left"><span>Time left</span> <span role="timer" data-left-ms="${untilMs - nowMs}">${minutes} min</span></p>`
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
  const main = `<main class="card wide"${attributes.join('')}>`
  return htmlDocument(title, `${body}\n${status}`).replace('<main class="card">', () => main)
}
