import { readFileSync } from 'node:fs'
import { z } from 'zod'
import {
  LINK_LISTENER_VARIABLE,
  type LinkListenerSettings,
  readLinkListenerFile,
} from '../config/identity-link.js'
import {
  NO_PROXIES,
  parseTrustedProxies,
  TRUSTED_PROXIES_FORM,
  TRUSTED_PROXIES_VARIABLE,
  type TrustedProxies,
} from '../config/trusted-proxies.js'

/** The login's settings from the environment, besides home and mode. */
interface IdentitySettings {
  /** 0 takes a free port. */
  readonly port: number
  /** The port of `/metrics` on loopback; 0 takes a free one, null serves none. */
  readonly metricsPort: number | null
  /** The listener for wallet services on other machines; null for the local socket only. */
  readonly link: LinkListenerSettings | null
  /** The file that names its journal's engine; null without a journal. */
  readonly journalFile: string | null
  /** `owner` acquires leadership at the start, `standby` once the leader is gone. */
  readonly journalRole: 'owner' | 'standby'
  /** The login's address behind a TLS proxy; undefined for its own address. */
  readonly publicIssuer: string | undefined
  /** The proxies whose `X-Forwarded-For` is trusted, besides the one on this machine. */
  readonly trustedProxies: TrustedProxies
  /** Exact callback URLs of the console; empty takes loopback with any port. */
  readonly consoleRedirectUris: readonly string[]
  /**
   * The operator's own OIDC provider, which signs users in instead of this login; null without one.
   */
  readonly external: ExternalIssuer | null
}

/**
 * Its keys are pinned in a file on this machine: they decide who may be granted a user's money, and
 * control over a URL must not be enough for that.
 */
interface ExternalIssuer {
  /** Expected `iss`. */
  readonly issuer: string
  readonly keys: PinnedKeys
}

const jwks = z.object({
  keys: z
    .array(
      z
        .looseObject({ kty: z.enum(['EC', 'RSA', 'OKP']) })
        .refine((key) => !('d' in key), 'is a private key'),
    )
    .min(1)
    .max(32),
})
type PinnedKeys = z.infer<typeof jwks>

const PORT_DEFAULT = 3100
const REDIRECT_URIS_MAX = 16

/** @throws Error that names the offending variable */
export function readIdentitySettings(
  env: Readonly<Record<string, string | undefined>>,
): IdentitySettings {
  return {
    port: readPort('IDENTITY_PORT', env.IDENTITY_PORT) ?? PORT_DEFAULT,
    metricsPort: readPort('IDENTITY_METRICS_PORT', env.IDENTITY_METRICS_PORT),
    link: readLink(env[LINK_LISTENER_VARIABLE]),
    journalFile: env.IDENTITY_JOURNAL_FILE || null,
    journalRole: readRole(env.IDENTITY_JOURNAL_ROLE),
    publicIssuer: env.IDENTITY_PUBLIC_ISSUER || undefined,
    trustedProxies: readTrustedProxies(env[TRUSTED_PROXIES_VARIABLE]),
    consoleRedirectUris: readRedirectUris(env.CONSOLE_REDIRECT_URIS),
    external: readExternal(env),
  }
}

function readPort(name: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`${name} is not a port number`)
  }
  return port
}

function readRole(text: string | undefined): 'owner' | 'standby' {
  const role = text || 'owner'
  if (role !== 'owner' && role !== 'standby') {
    throw new Error('IDENTITY_JOURNAL_ROLE is owner or standby')
  }
  return role
}

function readLink(path: string | undefined): LinkListenerSettings | null {
  return path === undefined || path === '' ? null : readLinkListenerFile(path)
}

function readTrustedProxies(text: string | undefined): TrustedProxies {
  if (text === undefined || text === '') return NO_PROXIES
  const proxies = parseTrustedProxies(text)
  if (proxies === null) throw new Error(`${TRUSTED_PROXIES_VARIABLE} ${TRUSTED_PROXIES_FORM}`)
  return proxies
}

function readRedirectUris(text: string | undefined): readonly string[] {
  const uris = (text ?? '').split(',').filter((uri) => uri !== '')
  const isUsable = (uri: string) => {
    const url = URL.parse(uri)
    const isLoopback =
      url?.protocol === 'http:' && (url.hostname === '127.0.0.1' || url.hostname === 'localhost')
    return (url?.protocol === 'https:' || isLoopback) && !uri.includes('#')
  }
  if (uris.length > REDIRECT_URIS_MAX || !uris.every(isUsable)) {
    throw new Error(
      `CONSOLE_REDIRECT_URIS must be at most ${REDIRECT_URIS_MAX} https URLs (or http on loopback), separated by commas`,
    )
  }
  return uris
}

function readExternal(env: Readonly<Record<string, string | undefined>>): ExternalIssuer | null {
  const { CONSOLE_ISSUER: issuer = '', CONSOLE_JWKS_FILE: path = '' } = env
  if (issuer === '' && path === '') return null
  if (issuer === '' || path === '') {
    throw new Error('CONSOLE_ISSUER and CONSOLE_JWKS_FILE are set together or not at all')
  }
  if (!URL.canParse(issuer)) throw new Error('CONSOLE_ISSUER is not a URL')
  const parsed = jwks.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (!parsed.success) throw new Error(`${path} of CONSOLE_JWKS_FILE is not a set of public keys`)
  return { issuer, keys: parsed.data }
}
