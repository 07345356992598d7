import type { IncomingMessage, ServerResponse } from 'node:http'
import { contentSecurityPolicy } from './pages.js'
import { sendPage } from './send-page.js'

/** Signs people in with the passkeys that confirm grants. The authorizers' store verifies them. */
export interface PasskeySignIn {
  /** Returns the relying party id for passkeys; null when none are offered at this address. */
  rpIdAt(origin: string): string | null
  /** Returns what a passkey signs, in base64url; it is valid for this sign-in only. */
  challengeOf(interactionId: string): string
  /** Tells whether one of that user's passkeys signed it. */
  isSignedBy(userId: string, interactionId: string, assertion: SignInAssertion): Promise<boolean>
}

export interface SignInAssertion {
  readonly credentialId: Uint8Array
  readonly clientDataJson: Uint8Array
  readonly authenticatorData: Uint8Array
  readonly signature: Uint8Array
}

/**
 * Room for authenticator data with extensions, client data with a long origin, and an RSA
 * signature.
 */
const FIELD_CHARS_MAX = 4_096
/** WebAuthn Level 3, section 5.4.3. Failed sign-ins are counted per user handle. */
const USER_HANDLE_BYTES_MAX = 64

/** Reads the assertion from a form; null when it is malformed. The user handle is the user's id. */
export function readAssertion(
  form: URLSearchParams,
): { readonly userId: string; readonly assertion: SignInAssertion } | null {
  const bytes = (name: string): Buffer => {
    const text = form.get(name) ?? ''
    const isText = text.length <= FIELD_CHARS_MAX && /^[A-Za-z0-9_-]+$/.test(text)
    return isText ? Buffer.from(text, 'base64url') : Buffer.alloc(0)
  }
  const assertion = {
    credentialId: bytes('credential_id'),
    clientDataJson: bytes('client_data_json'),
    authenticatorData: bytes('authenticator_data'),
    signature: bytes('signature'),
  }
  const userHandle = bytes('user_handle')
  const all = [userHandle, ...Object.values(assertion)]
  const isWhole = all.every(({ length }) => length > 0)
  return isWhole && userHandle.length <= USER_HANDLE_BYTES_MAX
    ? { userId: userHandle.toString('utf8'), assertion }
    : null
}

export const PASSKEY_SCRIPT_PATH = '/sign-in/passkey.js'

/** Plain JavaScript for browsers: fills the form with what a passkey signed, and sends it. */
const SCRIPT = `'use strict'
const form = document.getElementById('passkey')
const status = document.getElementById('passkey-status')

function toBytes(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function toText(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer))
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

form.hidden = !('credentials' in navigator)
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  status.textContent = ''
  try {
    const { rawId, response } = await navigator.credentials.get({
      publicKey: {
        challenge: toBytes(form.dataset.challenge),
        rpId: form.dataset.rpId,
        userVerification: 'required',
      },
    })
    form.elements.credential_id.value = toText(rawId)
    form.elements.user_handle.value = toText(response.userHandle)
    form.elements.client_data_json.value = toText(response.clientDataJSON)
    form.elements.authenticator_data.value = toText(response.authenticatorData)
    form.elements.signature.value = toText(response.signature)
    form.submit()
  } catch {
    status.textContent = 'No passkey of this address was used. Sign in with your password.'
  }
})
`

/** @returns false when the path is not its own */
export function servePasskeyScript(request: IncomingMessage, response: ServerResponse): boolean {
  const path = (request.url ?? '').split('?', 1)[0]
  if (path !== PASSKEY_SCRIPT_PATH || request.method !== 'GET') return false
  sendPage(response, 200, 'text/javascript', SCRIPT, contentSecurityPolicy(null))
  return true
}
