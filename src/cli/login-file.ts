import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { configDirectory, OTHERS_MASK } from './config-directory.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/**
 * Console tokens from `login`, one per service, in a file of mode 0600. A token lives an hour and
 * enlarges nothing by itself; the keys that confirm are stored separately.
 */
const login = z.object({
  token: z.string(),
  /** Origin of the identity provider that issued it. */
  identity_provider: z.string(),
  expires_at: z.iso.datetime(),
})
export type Login = z.infer<typeof login>

const loginFile = z.object({
  /** Address of the service of the last sign-in. */
  current: z.string().nullable(),
  logins: z.record(z.string(), login),
})
type LoginFile = z.infer<typeof loginFile>

/** The bound of services that one person signs in to; the one whose token ends first makes room. */
const LOGINS_MAX = 32

export function saveLogin(io: Io, serviceUrl: string, fresh: Login): string {
  const kept = Object.entries(read(io).logins)
    .filter(([url]) => url !== serviceUrl)
    .sort(([, a], [, b]) => b.expires_at.localeCompare(a.expires_at))
    .slice(0, LOGINS_MAX - 1)
  write(io, {
    current: serviceUrl,
    logins: { ...Object.fromEntries(kept), [serviceUrl]: fresh },
  })
  return pathOf(io)
}

/** @returns false when there was no token */
export function forgetLogin(io: Io, serviceUrl: string): boolean {
  const { current, logins } = read(io)
  if (!Object.hasOwn(logins, serviceUrl)) return false
  const left = Object.entries(logins).filter(([url]) => url !== serviceUrl)
  write(io, {
    current: current === serviceUrl ? null : current,
    logins: Object.fromEntries(left),
  })
  return true
}

/** Returns expired tokens too: they still name the identity provider. */
export function loginFor(io: Io, serviceUrl: string): Login | null {
  const { logins } = read(io)
  return Object.hasOwn(logins, serviceUrl) ? (logins[serviceUrl] ?? null) : null
}

/** Returns the address of the service of the last sign-in. */
export function currentService(io: Io): string | null {
  return read(io).current
}

/** @throws UsageError when others can read the file */
function read(io: Io): LoginFile {
  const none = { current: null, logins: {} }
  const { XDG_CONFIG_HOME, HOME } = io.env
  if (!XDG_CONFIG_HOME && !HOME) return none
  const path = pathOf(io)
  if (!existsSync(path)) return none
  if ((statSync(path).mode & OTHERS_MASK) !== 0) {
    throw new UsageError(`${path} must have mode 0600: others could read it`)
  }
  const parsed = loginFile.safeParse(jsonIn(path))
  if (parsed.success) return parsed.data
  throw new UsageError(`${path} is malformed; remove it and sign in again`)
}

/** @returns undefined when the file is not JSON */
function jsonIn(path: string): unknown {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function write(io: Io, content: LoginFile): void {
  const path = pathOf(io)
  mkdirSync(configDirectory(io), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(temporary, path)
}

function pathOf(io: Io): string {
  return join(configDirectory(io), 'login.json')
}
