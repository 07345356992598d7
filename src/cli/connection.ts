import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import {
  type Client,
  type ConsoleClient,
  createClient,
  createConsoleClient,
} from '../client/client.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { currentService, loginFor } from './login-file.js'
import type { Format } from './print.js'

/**
 * Chooses the service and the identity: options, then COUNTERSIGN_URL, COUNTERSIGN_API_KEY and
 * COUNTERSIGN_TOKEN, then `dev.json` of a development instance, then the token from `login`.
 * Secrets are never options, because every user of the machine can see a command line.
 */

export interface GlobalOptions extends Format {
  readonly url?: string
  readonly home?: string
}

const devFile = z.object({
  base_url: z.url(),
  issuer: z.url().optional(),
  keys: z.object({ trade: z.object({ secret: z.string() }).nullable() }),
})
type DevFile = z.infer<typeof devFile>

const DEFAULT_URL = 'http://127.0.0.1:8080'
const TOKEN_TIMEOUT_MS = 60_000
const RETRIES_MAX = 2

/** Returns the package's directory, from src/cli and from dist/src/cli. */
export function packageRoot(): string {
  let directory = fileURLToPath(new URL('.', import.meta.url))
  for (let i = 0; i < 5 && !existsSync(join(directory, 'package.json')); i++)
    directory = join(directory, '..')
  return resolve(directory)
}

export function homeOf(io: Io, options: GlobalOptions): string {
  return resolve(options.home ?? io.env.COUNTERSIGN_HOME ?? './.countersign')
}

export function serviceUrl(io: Io, options: GlobalOptions): string {
  const said = options.url ?? io.env.COUNTERSIGN_URL ?? readDevFile(io, options)?.base_url
  return (said ?? currentService(io) ?? DEFAULT_URL).replace(/\/+$/, '')
}

/** @throws UsageError when there is no key */
export function agentClient(io: Io, options: GlobalOptions): Client {
  const dev = io.env.COUNTERSIGN_API_KEY === undefined ? readDevFile(io, options) : null
  const apiKey = io.env.COUNTERSIGN_API_KEY ?? dev?.keys.trade?.secret
  if (apiKey === undefined) {
    throw new UsageError(
      dev === null
        ? 'set COUNTERSIGN_API_KEY, or start a development instance here'
        : 'the trade key of this instance has ended: run countersign keys create, then set COUNTERSIGN_API_KEY',
    )
  }
  return createClient({ url: serviceUrl(io, options), apiKey, retriesMax: RETRIES_MAX })
}

/** @throws UsageError when there is no console token */
export async function consoleClient(io: Io, options: GlobalOptions): Promise<ConsoleClient> {
  const token = io.env.COUNTERSIGN_TOKEN ?? keptToken(io, options) ?? (await devToken(io, options))
  return createConsoleClient({ url: serviceUrl(io, options), token, retriesMax: RETRIES_MAX })
}

/** @returns null when `login` has stored no token, or it has expired */
function keptToken(io: Io, options: GlobalOptions): string | null {
  const login = loginFor(io, serviceUrl(io, options))
  return login !== null && Date.parse(login.expires_at) > Date.now() ? login.token : null
}

async function devToken(io: Io, options: GlobalOptions): Promise<string> {
  const token = await devTokenFor(io, options, [])
  if (token !== null) return token
  throw new UsageError(
    'sign in first: countersign login (or set COUNTERSIGN_TOKEN to a console token)',
  )
}

/**
 * Signs in as the user of a development instance.
 * @returns null when there is no such instance here
 */
export async function devTokenFor(
  io: Io,
  options: GlobalOptions,
  args: readonly string[],
): Promise<string | null> {
  const script = join(packageRoot(), 'dist/scripts/dev/token.js')
  if (readDevFile(io, options) === null || !existsSync(script)) return null
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
    env: { ...io.env, COUNTERSIGN_HOME: homeOf(io, options) },
    timeout: TOKEN_TIMEOUT_MS,
  })
  return stdout.trim()
}

/** The environment of a development instance's processes; empty without such an instance. */
export function devEnvironment(io: Io, options: GlobalOptions): Readonly<Record<string, string>> {
  const dev = readDevFile(io, options)
  if (dev === null) return {}
  const { base_url, issuer } = dev
  return {
    COUNTERSIGN_MODE: 'dev',
    PORT: new URL(base_url).port,
    ...(issuer === undefined ? {} : { IDENTITY_ISSUER: issuer }),
  }
}

/** Tells whether `npm start` made this home: it is marked, whether the instance runs or not. */
export function isDevelopmentHome(io: Io, options: GlobalOptions): boolean {
  return existsSync(join(homeOf(io, options), '.countersign-home'))
}

function readDevFile(io: Io, options: GlobalOptions): DevFile | null {
  const path = join(homeOf(io, options), 'dev.json')
  if (!existsSync(path)) return null
  const parsed = devFile.safeParse(JSON.parse(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new UsageError(`${path} is malformed; start the development instance again`)
}
