import type { ClientMetadata } from 'oidc-provider'

const CONSOLE_CLIENT_ID = 'countersign-console'
export const COMMAND_LINE_CLIENT_ID = 'countersign-cli'

/** The identity provider's own pages for passkeys: they need a session, and no token. */
export const AUTHORIZERS_CLIENT_ID = 'countersign-authorizers'
export const AUTHORIZERS_SIGNED_IN_PATH = '/authorizers/signed-in'

/**
 * RFC 8252, section 7.3: a native client's loopback redirect matches on any port. The command
 * line listens (or, when it plays the browser itself, only intercepts) there.
 */
export const COMMAND_LINE_REDIRECT_URI = 'http://127.0.0.1/callback'

/** The default for an installation on one machine that does not configure its console. */
const CONSOLE_LOOPBACK_REDIRECT_URIS = [
  'http://127.0.0.1/console/callback',
  'http://localhost/console/callback',
]

const LOOPBACK_ORIGINS = ['http://localhost', 'http://127.0.0.1']

const publicClient = {
  // A browser page or a person's machine cannot keep a client secret; PKCE replaces it.
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code'],
  response_types: ['code'],
  id_token_signed_response_alg: 'ES256',
} as const satisfies Partial<ClientMetadata>

/**
 * Returns the clients of a deployment; no client can register itself.
 * @param origin the public origin of this server; null when browsers use the loopback address
 * @param consoleRedirectUris exact URLs of the console's callback; empty takes the loopback
 * addresses with any port
 */
export function loginClients(
  consoleRedirectUris: readonly string[],
  origin: string | null,
): ClientMetadata[] {
  const loopback = consoleRedirectUris.length === 0
  const consoleUris = loopback ? CONSOLE_LOOPBACK_REDIRECT_URIS : consoleRedirectUris
  return [
    {
      ...publicClient,
      client_id: CONSOLE_CLIENT_ID,
      client_name: 'Countersign console',
      application_type: loopback ? 'native' : 'web',
      redirect_uris: [...consoleUris],
      post_logout_redirect_uris: consoleUris.map((uri) => new URL('.', uri).href),
      // A page that stays open longer than its token keeps working without a new sign-in.
      grant_types: [...publicClient.grant_types, 'refresh_token'],
      response_types: [...publicClient.response_types],
    },
    {
      ...publicClient,
      client_id: AUTHORIZERS_CLIENT_ID,
      client_name: 'your passkeys',
      application_type: origin === null ? 'native' : 'web',
      redirect_uris: (origin === null ? LOOPBACK_ORIGINS : [origin]).map(
        (at) => `${at}${AUTHORIZERS_SIGNED_IN_PATH}`,
      ),
      grant_types: [...publicClient.grant_types],
      response_types: [...publicClient.response_types],
    },
    {
      ...publicClient,
      client_id: COMMAND_LINE_CLIENT_ID,
      client_name: 'Countersign command line',
      application_type: 'native',
      redirect_uris: [COMMAND_LINE_REDIRECT_URI, 'http://[::1]/callback'],
      grant_types: [...publicClient.grant_types],
      response_types: [...publicClient.response_types],
    },
  ]
}
