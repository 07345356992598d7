import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import {
  ACCOUNTS_FIELD,
  accountClaims,
  accountOf,
  type Memberships,
  NoPlaceError,
} from './account-tokens.js'
import type { Accounts } from './accounts.js'
import { type ArtifactStore, CLOCK_TOLERANCE_SECONDS } from './artifact-adapter.js'
import { AUTHORIZERS_AUDIENCE, AUTHORIZERS_SCOPE, AUTHORIZERS_TOKEN_SECONDS } from './audiences.js'
import { COMMAND_LINE_CLIENT_ID, loginClients } from './clients.js'
import { freshForAuthorizers } from './fresh-sign-in.js'
import type { LoginKeys } from './login-keys.js'
import { contentSecurityPolicy, logoutPage, messagePage } from './pages.js'

type Client = InstanceType<Provider['Client']>

/**
 * One hour in every mode: a console token cannot be revoked, so its lifetime bounds the harm of a
 * leaked one, while a person signs in once per session at the console or shell.
 */
const ACCESS_TOKEN_SECONDS = 3_600
const AUTHORIZATION_CODE_SECONDS = 60
const INTERACTION_SECONDS = 600
/** A working day: the session lets the console fetch a new token without the password. */
const SESSION_SECONDS = 12 * 3_600
/**
 * Visitors of the sign-out page leave sessions behind, and past the bound the first to expire makes
 * room. With this short lifetime it is never the session of a person who is signed in.
 */
const STRANGERS_SESSION_SECONDS = 600

interface OidcOptions {
  readonly issuer: string
  /** `aud` of console tokens. */
  readonly audience: string
  readonly keys: LoginKeys
  readonly accounts: Accounts
  readonly artifacts: ArtifactStore
  /** Null while the ledger is not open yet. */
  readonly memberships: () => Memberships | null
  readonly consoleRedirectUris: readonly string[]
  /** 'tls-proxy' trusts `X-Forwarded-*`, which only a proxy in front may set. */
  readonly exposure: 'direct' | 'tls-proxy'
}

/**
 * Authorization code with PKCE for public clients, and JWT access tokens. The console's pages also
 * get refresh tokens: each works once, because a browser cannot prove whose they are, and none
 * works after the session has ended.
 */
export function createOidcProvider(options: OidcOptions): Provider {
  const { accounts, audience, keys } = options
  const configuration: Configuration = {
    adapter: options.artifacts.adapter,
    clients: loginClients(
      options.consoleRedirectUris,
      options.exposure === 'direct' ? null : options.issuer,
    ),
    jwks: { keys: keys.signingJwks.map((key) => ({ ...key })) },
    cookies: {
      keys: [...keys.cookieKeys],
      short: { httpOnly: true, sameSite: 'lax', signed: true },
      long: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    responseTypes: ['code'],
    scopes: ['openid', 'email'],
    claims: { openid: ['sub'], email: ['email'] },
    // The console reads the email from the ID token; there is no userinfo endpoint.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    expiresWithSession: () => true,
    clientBasedCORS,
    findAccount(_ctx, sub) {
      const user = accounts.findById(sub)
      if (user === undefined) return undefined
      return { accountId: sub, claims: async () => ({ sub, email: user.email }) }
    },
    async extraTokenClaims(_ctx, token) {
      const user =
        'accountId' in token && token.accountId !== undefined
          ? accounts.findById(token.accountId)
          : undefined
      if (user === undefined) return undefined
      const resource = resourceOf(token)
      if (resource === AUTHORIZERS_AUDIENCE) return { email: user.email }
      const memberships = options.memberships()
      const claims = accountClaims(user.userId, resource, audience, memberships)
      // Checked at each refresh too: a person who was removed gets no new token for the account.
      if (claims === null) throw new NoPlaceError(memberships, user.userId)
      return { email: user.email, ...claims }
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => sendPage(ctx, logoutPage(form), wayBackOf(ctx)),
        postLogoutSuccessSource: (ctx) =>
          sendPage(ctx, messagePage('Signed out', 'You can close this page.')),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, resource, { clientId }) {
          const isConsole = resource === audience || accountOf(resource, audience) !== null
          // The console's pages come from the wallet service, which could simply request one.
          const isForAuthorizers =
            resource === AUTHORIZERS_AUDIENCE && clientId === COMMAND_LINE_CLIENT_ID
          if (!isConsole && !isForAuthorizers) throw new errors.InvalidTarget()
          return {
            scope: isConsole ? 'console' : AUTHORIZERS_SCOPE,
            audience: isConsole ? audience : resource,
            accessTokenTTL: isConsole ? ACCESS_TOKEN_SECONDS : AUTHORIZERS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    interactions: {
      url: (_ctx, interaction) => `/interaction/${interaction.uid}`,
      policy: freshForAuthorizers(),
    },
    renderError(ctx, out) {
      const reason = out.error_description ?? out.error
      sendPage(ctx, messagePage('Sign-in failed', `${reason}. Go back and try again.`))
    },
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? ACCESS_TOKEN_SECONDS,
      IdToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: AUTHORIZATION_CODE_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: SESSION_SECONDS,
      Session: (_ctx, { accountId }) =>
        accountId === undefined ? STRANGERS_SESSION_SECONDS : SESSION_SECONDS,
      Grant: SESSION_SECONDS,
    },
  }
  const provider = new Provider(options.issuer, configuration)
  provider.on('grant.error', (ctx, error) => {
    const isToldWhere = error instanceof NoPlaceError && error.accounts !== null
    if (isToldWhere && ctx.body instanceof Object) {
      ctx.body = { ...ctx.body, [ACCOUNTS_FIELD]: error.accounts }
    }
  })
  provider.proxy = options.exposure === 'tls-proxy'
  return provider
}

/** Returns an empty string for a token without a resource. */
function resourceOf(token: object): string {
  if (!('resourceServer' in token)) return ''
  const { resourceServer } = token
  const isThere = resourceServer instanceof Object && 'identifier' in resourceServer
  return isThere && typeof resourceServer.identifier === 'function'
    ? String(resourceServer.identifier())
    : ''
}

/** A page may exchange its code when its origin is one of the client's redirect origins. */
function clientBasedCORS(_ctx: KoaContextWithOIDC, origin: string, client: Client): boolean {
  const asked = URL.parse(origin)
  if (asked === null) return false
  return (client.redirectUris ?? []).some((uri) => {
    const allowed = URL.parse(uri)
    if (allowed === null || allowed.protocol !== asked.protocol) return false
    return client.applicationType === 'native'
      ? allowed.hostname === asked.hostname
      : allowed.host === asked.host
  })
}

/** Returns where the sign-out leads: an address of the client, which the package has checked. */
function wayBackOf({ oidc }: KoaContextWithOIDC): string | null {
  const address = oidc.params?.post_logout_redirect_uri
  return typeof address === 'string' ? new URL(address).origin : null
}

function sendPage(ctx: KoaContextWithOIDC, html: string, formTarget: string | null = null): void {
  ctx.set('Content-Security-Policy', contentSecurityPolicy(formTarget))
  ctx.type = 'html'
  ctx.body = html
}
