import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import { errors, type InteractionResults } from 'oidc-provider'
import type { Logger } from 'pino'
import { accountOf } from './account-tokens.js'
import { type Accounts, normaliseEmail } from './accounts.js'
import { AUTHORIZERS_AUDIENCE, AUTHORIZERS_SCOPE } from './audiences.js'
import { AUTHORIZERS_CLIENT_ID } from './clients.js'
import type { DeviceCookies } from './device-cookie.js'
import { FormRefusedError, readForm } from './form-body.js'
import type { LoginThrottle } from './login-throttle.js'
import {
  consentPage,
  contentSecurityPolicy,
  loginPage,
  messagePage,
  signInPolicy,
} from './pages.js'
import { PASSKEY_SCRIPT_PATH, type PasskeySignIn, readAssertion } from './passkey-sign-in.js'
import { PasswordQueueFullError } from './password-hash.js'

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const PATH = /^\/interaction\/([\w-]{1,64})(?:\/(login|passkey|consent|abort))?$/

interface InteractionDeps {
  readonly provider: Provider
  readonly accounts: Accounts
  readonly throttle: LoginThrottle
  readonly devices: DeviceCookies
  readonly audience: string
  /** Null until a verifier of passkeys is set. */
  readonly passkeys: () => PasskeySignIn | null
  readonly issuer: string
  readonly log: Logger
  /** Returns the peer to count failed logins against. */
  readonly clientAddress: (request: IncomingMessage) => string
}

/**
 * Serves the pages on which a person signs in and consents. A signed, SameSite cookie binds the
 * interaction to the browser, so another site can neither show nor submit its forms.
 * @returns false when the path is not one of its own
 */
export function createInteractionHandler(deps: InteractionDeps) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const match = PATH.exec((request.url ?? '').split('?', 1)[0] ?? '')
    if (match === null) return false
    try {
      await handle(deps, request, response, match[1] ?? '', match[2])
    } catch (error) {
      if (response.headersSent) throw error
      sendFailure(deps.log, response, error)
    }
    return true
  }
}

async function handle(
  deps: InteractionDeps,
  request: IncomingMessage,
  response: ServerResponse,
  uid: string,
  action: string | undefined,
): Promise<void> {
  const expectedMethod = action === undefined ? 'GET' : 'POST'
  if (request.method !== expectedMethod) {
    response.setHeader('Allow', expectedMethod)
    sendPage(response, 405, messagePage('Not possible', 'Go back and use the form.'), null)
    return
  }
  const interaction = await deps.provider.interactionDetails(request, response)
  if (interaction.uid !== uid) throw new errors.SessionNotFound('another interaction')
  if (action === 'abort') {
    await deps.provider.interactionFinished(
      request,
      response,
      { error: 'access_denied', error_description: 'The person cancelled the sign-in' },
      { mergeWithLastSubmission: false },
    )
  } else if (action === 'login' && interaction.prompt.name === 'login') {
    await submitLogin(deps, interaction, request, response)
  } else if (action === 'passkey' && interaction.prompt.name === 'login') {
    await submitPasskey(deps, interaction, request, response)
  } else if (action === 'consent' && interaction.prompt.name === 'consent') {
    await submitConsent(deps, interaction, request, response)
  } else {
    await showPrompt(deps, interaction, request, response)
  }
}

async function showPrompt(
  deps: InteractionDeps,
  interaction: Interaction,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const client = await describeClient(deps, interaction)
  const interactionPath = `/interaction/${interaction.uid}`
  if (interaction.prompt.name === 'consent') {
    const user = deps.accounts.findById(interaction.session?.accountId ?? '')
    if (user === undefined) throw new errors.SessionNotFound('the account is gone')
    const page = consentPage({
      interactionPath,
      clientName: client.name,
      email: user.email,
      redirectHost: client.redirect.host,
      abilities: abilitiesOf(interaction, deps.audience),
    })
    sendPage(response, 200, page, client.redirect.origin)
    return
  }
  showLogin(deps, interaction, client, request, response, 200, '', null)
}

function showLogin(
  deps: InteractionDeps,
  { uid, params }: Interaction,
  client: { readonly name: string; readonly redirect: URL },
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  email: string,
  problem: string | null,
): void {
  const passkeys = deps.passkeys()
  const origin = `${new URL(deps.issuer).protocol}//${request.headers.host}`
  const rpId = passkeys?.rpIdAt(origin) ?? null
  const passkey =
    passkeys === null || rpId === null
      ? null
      : { challenge: passkeys.challengeOf(uid), rpId, script: PASSKEY_SCRIPT_PATH }
  const purpose = purposeOf(params, client.name)
  const interactionPath = `/interaction/${uid}`
  const html = loginPage({ interactionPath, purpose, email, problem, passkey })
  const policy = passkey === null ? contentSecurityPolicy : signInPolicy
  sendPage(response, status, html, client.redirect.origin, policy)
}

/**
 * Attempts are counted per address, not against guessing but because each one costs a verification.
 */
async function submitPasskey(
  deps: InteractionDeps,
  interaction: Interaction,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = readAssertion(await readForm(request))
  const address = deps.clientAddress(request)
  const client = await describeClient(deps, interaction)
  const refuse = (status: number, problem: string) =>
    showLogin(deps, interaction, client, request, response, status, '', problem)
  const accountKey = `passkey ${given?.userId ?? ''}`
  const caller = { accountKey, by: 'passkey', address, device: null } as const
  const waitMs = deps.throttle.waitMs(caller, Date.now())
  if (waitMs > 0) {
    response.setHeader('Retry-After', Math.ceil(waitMs / 1_000))
    refuse(429, `Too many failed sign-ins. Try again in ${Math.ceil(waitMs / 60_000)} min.`)
    return
  }
  deps.throttle.recordFailure(caller, Date.now())
  const user = given === null ? undefined : deps.accounts.findById(given.userId)
  const isSigned =
    given !== null &&
    user !== undefined &&
    (await deps.passkeys()?.isSignedBy(user.userId, interaction.uid, given.assertion)) === true
  if (!isSigned) {
    deps.log.warn({ address }, 'sign-in by passkey failed')
    refuse(401, 'That passkey belongs to no account here.')
    return
  }
  deps.throttle.recordSuccess(caller)
  deps.log.info({ userId: user.userId, address }, 'sign-in by passkey succeeded')
  const login = { accountId: user.userId, amr: ['pop', 'user'] }
  await deps.provider.interactionFinished(
    request,
    response,
    { login },
    { mergeWithLastSubmission: false },
  )
}

async function submitLogin(
  deps: InteractionDeps,
  interaction: Interaction,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = await readForm(request)
  const email = form.get('email') ?? ''
  const address = deps.clientAddress(request)
  const accountKey = normaliseEmail(email) ?? 'malformed'
  const device = deps.devices.read(request, accountKey)
  const caller = { accountKey, by: 'password', address, device } as const
  const client = await describeClient(deps, interaction)
  const refuse = (status: number, problem: string) =>
    showLogin(deps, interaction, client, request, response, status, email, problem)

  const waitMs = deps.throttle.waitMs(caller, Date.now())
  if (waitMs > 0) {
    deps.log.warn({ address }, 'login throttled')
    response.setHeader('Retry-After', Math.ceil(waitMs / 1_000))
    const minutes = Math.ceil(waitMs / 60_000)
    refuse(429, `Too many failed sign-ins. Try again in ${minutes} min.`)
    return
  }
  // Counted before the slow comparison, so that parallel guesses cannot outrun the count.
  deps.throttle.recordFailure(caller, Date.now())
  const user = await deps.accounts.authenticate(
    email,
    form.get('password') ?? '',
    device === null ? 'stranger' : 'known',
  )
  if (user === null) {
    deps.log.warn({ address }, 'login failed')
    refuse(401, 'The email or the password is wrong.')
    return
  }
  deps.throttle.recordSuccess(caller)
  if (device === null) response.appendHeader('Set-Cookie', deps.devices.issue(accountKey))
  deps.log.info({ userId: user.userId, address }, 'login succeeded')
  const result: InteractionResults = { login: { accountId: user.userId, amr: ['pwd'] } }
  await deps.provider.interactionFinished(request, response, result, {
    mergeWithLastSubmission: false,
  })
}

async function submitConsent(
  deps: InteractionDeps,
  interaction: Interaction,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const accountId = interaction.session?.accountId
  if (accountId === undefined) throw new errors.SessionNotFound('not signed in')
  const existing =
    interaction.grantId === undefined
      ? undefined
      : await deps.provider.Grant.find(interaction.grantId)
  const grant =
    existing ??
    new deps.provider.Grant({ accountId, clientId: String(interaction.params.client_id) })
  grant.addOIDCScope('openid email')
  const { resource } = interaction.params
  if (resource === AUTHORIZERS_AUDIENCE) {
    grant.addResourceScope(AUTHORIZERS_AUDIENCE, AUTHORIZERS_SCOPE)
  } else {
    const isOfAccount = accountOf(String(resource), deps.audience) !== null
    grant.addResourceScope(isOfAccount ? String(resource) : deps.audience, 'console')
  }
  const grantId = await grant.save()
  await deps.provider.interactionFinished(
    request,
    response,
    { consent: { grantId } },
    { mergeWithLastSubmission: true },
  )
}

function abilitiesOf({ params }: Interaction, audience: string): string[] {
  const forAuthorizers =
    params.resource === AUTHORIZERS_AUDIENCE || params.client_id === AUTHORIZERS_CLIENT_ID
  const account = accountOf(String(params.resource), audience)
  if (account !== null) {
    return ['see your email address', `do in the account ${account} what your role there allows`]
  }
  return forAuthorizers
    ? ['add and remove your passkeys and authorizer keys']
    : ['see your email address', 'manage your wallets, API keys and webhooks']
}

/** Returns the purpose of the sign-in. Pages of this origin put their path into `state`. */
export function purposeOf(params: Readonly<Record<string, unknown>>, clientName: string): string {
  if (params.client_id !== AUTHORIZERS_CLIENT_ID) return `to continue to ${clientName}`
  const path = Buffer.from(String(params.state ?? ''), 'base64url').toString()
  if (path.startsWith('/approve/')) return 'to decide on a call'
  if (path.startsWith('/authorizers/confirm')) return 'to confirm what a key may do'
  return 'to see and change your passkeys'
}

async function describeClient(
  deps: InteractionDeps,
  interaction: Interaction,
): Promise<{ name: string; redirect: URL }> {
  const clientId = String(interaction.params.client_id)
  const client = await deps.provider.Client.find(clientId)
  return {
    name: client?.clientName ?? clientId,
    redirect: new URL(String(interaction.params.redirect_uri)),
  }
}

function sendFailure(log: Logger, response: ServerResponse, error: unknown): void {
  if (error instanceof errors.SessionNotFound) {
    const page = messagePage('Sign-in expired', 'Go back to where you came from and start again.')
    sendPage(response, 400, page, null)
  } else if (error instanceof FormRefusedError) {
    sendPage(response, error.status, messagePage('Not possible', error.message), null)
  } else if (error instanceof PasswordQueueFullError) {
    response.setHeader('Retry-After', 5)
    const page = messagePage('Busy', 'Too many people are signing in. Try again in a moment.')
    sendPage(response, 503, page, null)
  } else {
    log.error({ err: error }, 'interaction failed')
    sendPage(response, 500, messagePage('Sign-in failed', 'Try again in a moment.'), null)
  }
}

function sendPage(
  response: ServerResponse,
  status: number,
  html: string,
  formTargetOrigin: string | null,
  policy = contentSecurityPolicy,
): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(html),
    'Content-Security-Policy': policy(formTargetOrigin),
    'Cache-Control': 'no-store',
  })
  response.end(html)
}
