import { BASE_PATH, ISSUER } from '../env.js'
import { resourceWanted } from './account.js'
import { askProvider, NoPlaceError, type Place, SignInError } from './ask-provider.js'
import type { Tokens } from './held-tokens.js'

/**
 * Authorization code flow with PKCE (RFC 7636) at the identity provider. During the redirect the
 * verifier is in this tab's session storage, which no other tab or origin can read.
 */

const CLIENT_ID = 'countersign-console'
const REDIRECT_URI = `${location.origin}${BASE_PATH}/callback`
const SCOPE = 'openid email console'
const PENDING_KEY = 'countersign:sign-in'

interface Endpoints {
  readonly authorization: string
  readonly token: string
  readonly endSession: string | null
}

let endpoints: Promise<Endpoints> | null = null

function discover(): Promise<Endpoints> {
  endpoints ??= readDiscovery().catch((error: unknown) => {
    endpoints = null
    throw error
  })
  return endpoints
}

async function readDiscovery(): Promise<Endpoints> {
  if (ISSUER === '') {
    throw new SignInError(
      'This service has no identity provider configured, so nobody can sign in.',
    )
  }
  const { ok, body } = await askProvider(ISSUER, `${ISSUER}/.well-known/openid-configuration`)
  const { issuer, authorization_endpoint, token_endpoint, end_session_endpoint } = body
  if (!ok || issuer !== ISSUER || !isText(authorization_endpoint) || !isText(token_endpoint)) {
    throw new SignInError(`The identity provider at ${ISSUER} gave an unexpected answer.`)
  }
  return {
    authorization: authorization_endpoint,
    token: token_endpoint,
    endSession: isText(end_session_endpoint) ? end_session_endpoint : null,
  }
}

/** Leaves for the sign-in page; `returnTo` is a path below the console's base. */
export async function leaveForSignIn(returnTo: string): Promise<void> {
  const { authorization } = await discover()
  const [state, verifier] = [randomText(), randomText()]
  sessionStorage.setItem(PENDING_KEY, JSON.stringify({ state, verifier, returnTo }))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const url = new URL(authorization)
  url.search = new URLSearchParams({
    client_id: CLIENT_ID,
    response_type: 'code',
    scope: SCOPE,
    resource: resourceWanted(),
    redirect_uri: REDIRECT_URI,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    state,
  }).toString()
  location.assign(url)
}

/** @throws SignInError if the provider refused, or this tab did not start the sign-in */
export async function comeBackFromSignIn(
  query: URLSearchParams,
): Promise<{ tokens: Tokens; returnTo: string }> {
  const pending = takePending()
  if (pending === null || query.get('state') !== pending.state) {
    throw new SignInError('This sign-in was not started in this tab, or has already ended.')
  }
  const issuer = query.get('iss')
  if (issuer !== null && issuer !== ISSUER) {
    throw new SignInError('Another identity provider answered.')
  }
  const code = query.get('code')
  if (code === null) {
    const reason = query.get('error_description') ?? query.get('error') ?? 'no reason given'
    throw new SignInError(`The identity provider did not sign you in: ${reason}.`)
  }
  const tokens = await askForTokens({
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT_URI,
    code,
    code_verifier: pending.verifier,
  })
  return { tokens, returnTo: pending.returnTo }
}

/** @throws SignInError if the session at the provider has ended */
export function refreshTokens(refreshToken: string): Promise<Tokens> {
  return askForTokens({ grant_type: 'refresh_token', refresh_token: refreshToken })
}

/** Leaves for the provider's sign-out, which returns to the console. */
export async function leaveForSignOut(): Promise<void> {
  const { endSession } = await discover()
  if (endSession === null) {
    location.assign(`${BASE_PATH}/`)
    return
  }
  const url = new URL(endSession)
  url.search = new URLSearchParams({
    client_id: CLIENT_ID,
    post_logout_redirect_uri: `${location.origin}${BASE_PATH}/`,
  }).toString()
  location.assign(url)
}

async function askForTokens(form: Readonly<Record<string, string>>): Promise<Tokens> {
  const { token } = await discover()
  const asked = new URLSearchParams({ ...form, client_id: CLIENT_ID, resource: resourceWanted() })
  const sentAtMs = Date.now()
  const { ok, body } = await askProvider(ISSUER, token, { method: 'POST', body: asked })
  const { access_token, refresh_token, expires_in, error, error_description } = body
  if (!ok || !isText(access_token)) {
    const places = body.countersign_accounts
    if (Array.isArray(places)) throw new NoPlaceError(places.filter(isPlace))
    const reason = isText(error_description) ? error_description : String(error ?? 'no token')
    throw new SignInError(`The identity provider did not sign you in: ${reason}.`)
  }
  return {
    accessToken: access_token,
    refreshToken: isText(refresh_token) ? refresh_token : null,
    expiresAtMs: sentAtMs + Number(expires_in ?? 0) * 1_000,
  }
}

interface Pending {
  readonly state: string
  readonly verifier: string
  readonly returnTo: string
}

function takePending(): Pending | null {
  const text = sessionStorage.getItem(PENDING_KEY)
  sessionStorage.removeItem(PENDING_KEY)
  if (text === null) return null
  const { state, verifier, returnTo } = JSON.parse(text) as Record<string, unknown>
  if (!isText(state) || !isText(verifier) || !isText(returnTo)) return null
  return { state, verifier, returnTo }
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)))
}

function base64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function isPlace(value: unknown): value is Place {
  if (typeof value !== 'object' || value === null) return false
  const { account_id, role } = value as Readonly<Record<string, unknown>>
  return isText(account_id) && isText(role)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
