import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { diskFloorBytes } from '../config/disk-floor.js'
import { createLogger } from '../config/logging.js'
import { removedVariables } from '../config/removed-variables.js'
import { ownHome } from '../custody/home-lock/own-home.js'
import { readProcessEnvironment } from '../custody/process-environment.js'
import { runUntilStopped } from '../custody/process-life.js'
import { CONSOLE_AUDIENCE } from '../domain/console-audience.js'
import { socketAccessOf } from '../quorum-protocol/socket-access.js'
import { sha256 } from '../quorum-protocol/tagged.js'
import { signInMessage } from './authorizers/ceremonies.js'
import { createAuthorizerRoutes } from './authorizers/routes.js'
import { beginJournal } from './journal/begin-journal.js'
import { AUTHORIZERS_AUDIENCE, AUTHORIZERS_TOKEN_SECONDS } from './login/audiences.js'
import { type Login, startLogin } from './login/start-login.js'
import { listenForMetrics } from './metrics/metrics-listener.js'
import { createVaultMetrics } from './metrics/vault-metrics.js'
import { readIdentitySettings } from './settings.js'
import { createTokenVerifier, type TokenIssuer } from './vault/console-token.js'
import type { People } from './vault/member-requests.js'
import { startVault } from './vault/start-vault.js'

/**
 * The identity provider: login for the console, and the user's part in every signature. The two
 * share a process because they share a trust domain: the domain that authenticates the user holds
 * the user's share.
 */
/** Answers take milliseconds; connections that clients hold open are not awaited. */
const CLOSE_TIMEOUT_MS = 3_000

const { home, mode, fileKeys } = readProcessEnvironment(process.env)
const diskFloor = diskFloorBytes(process.env)
ownHome(home, 'user')
const log = createLogger({ name: 'identity-provider', level: 'info' })
const settings = readIdentitySettings(process.env)
const { external, publicIssuer, trustedProxies } = settings
const consoleVariables = Object.keys(process.env).filter((name) => name.startsWith('CONSOLE_'))
for (const warning of removedVariables(consoleVariables)) log.warn(warning)
const devUser = mode === 'dev' ? readDevUser(join(home, 'dev-user.json')) : undefined
const metrics = createVaultMetrics()
const metricsListener =
  settings.metricsPort === null
    ? null
    : await listenForMetrics(settings.metricsPort, metrics.registry, log)
if (metricsListener !== null) log.info({ port: metricsListener.port }, 'metrics are served')
// A standby stops here until it leads the journal; by then its stores are up to date.
const journal = await beginJournal({
  ...{ home, mode, fileKeys, log, metrics, node: hostname() },
  ...{ file: settings.journalFile, role: settings.journalRole },
})
const login = await startLogin({
  journal,
  port: settings.port,
  host: '127.0.0.1',
  dataDir: join(home, 'identity-provider'),
  audience: CONSOLE_AUDIENCE,
  mode,
  log,
  consoleRedirectUris: settings.consoleRedirectUris,
  ...(publicIssuer === undefined ? {} : { publicIssuer }),
  trustedProxies,
  ...(devUser === undefined ? {} : { devUser }),
})
const vault = await startVault({
  home,
  mode,
  fileKeys,
  socketAccess: socketAccessOf(process.env),
  link: settings.link,
  diskFloorBytes: diskFloor,
  tokens: tokensFor(CONSOLE_AUDIENCE),
  people: external === null ? peopleOf(login.accounts) : null,
  metrics,
  journal,
  log,
  onBroken(error) {
    // Nothing may be approved after a failed write; what is on disk is complete.
    log.fatal(
      { err: error },
      'a write failed: the identity provider stops, to restart from what is on disk',
    )
    process.exit(1)
  },
})
const authorizerTokens = createTokenVerifier({
  ...tokensFor(AUTHORIZERS_AUDIENCE),
  ageSecondsMax: AUTHORIZERS_TOKEN_SECONDS,
})
login.mount((parts) =>
  createAuthorizerRoutes({
    ...parts,
    ceremonies: vault.authorizers,
    approvals: vault.approvals,
    members: vault.members,
    termsOf: vault.termsOf,
    webauthn: vault.webauthn,
    verifyToken: authorizerTokens,
  }),
)
login.takeMemberships(vault.members)
login.takePasskeys({
  rpIdAt(origin) {
    const webauthn = vault.webauthn()
    return webauthn?.origins.includes(origin) === true ? webauthn.rpId : null
  },
  challengeOf: (interactionId) => sha256(signInMessage(interactionId)).toString('base64url'),
  isSignedBy: vault.authorizers.isSignIn,
})

runUntilStopped('identity-provider', CLOSE_TIMEOUT_MS, async () => {
  metricsListener?.close()
  await vault.close()
  await login.close()
  await journal?.close()
})

/** Returns the issuer that signs users in: this process, or the operator's own provider. */
function tokensFor(audienceOfToken: string): TokenIssuer {
  const from = { audience: audienceOfToken }
  return external === null
    ? { ...from, issuer: login.issuer, keys: { url: login.jwksUrl } }
    : { ...from, issuer: external.issuer, keys: external.keys }
}

/** Names the people who sign in at this login, as members of accounts. */
function peopleOf({ findById, personByEmail }: Login['accounts']): People {
  return {
    async byEmail(address) {
      const found = await personByEmail(address)
      return found === null ? null : { personId: found.userId, email: found.emailKey }
    },
    emailOf: (personId) => findById(personId)?.email ?? null,
  }
}

/**
 * Reads the account that `npm start` creates for its one user; undefined when there is no such
 * file.
 */
function readDevUser(path: string): { email: string; password: string } | undefined {
  if (!existsSync(path)) return undefined
  const { email, password } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  if (typeof email !== 'string' || typeof password !== 'string') {
    throw new Error('dev-user.json is malformed')
  }
  return { email, password }
}
