import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { readJsonFile, requireOwnersAlone } from './json-file.js'

/**
 * How wallet services on other machines reach the identity provider: by TLS, where each side has a
 * certificate of one authority that both pin. Each side has a file of its own, which names a private key.
 */

/** Paths of PEM files. */
export interface TlsFiles {
  /** This side's, and whatever lies between it and the authority. */
  readonly certificate: string
  /** Of this side's certificate; mode 0600. */
  readonly key: string
  /** Whose certificates the other side may have; several, while one takes another's place. */
  readonly authority: string
}

/** What lies in them. */
export interface TlsPems {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer
}

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** The identity provider's side. */
export interface LinkListenerSettings {
  readonly listen: HostPort
  readonly files: TlsFiles
}

/** The wallet service's side. */
export interface IdentityLinkSettings {
  readonly address: HostPort
  /** That the identity provider's certificate bears; null: the host of its address. */
  readonly serverName: string | null
  readonly files: TlsFiles
}

/** What a connection is made with. */
export interface IdentityLink extends HostPort {
  readonly serverName: string | null
  /** As the files are by then. @throws as `readTlsFiles` */
  readonly credentials: () => TlsPems
}

export const LINK_LISTENER_VARIABLE = 'IDENTITY_LINK_FILE'
export const IDENTITY_LINK_VARIABLE = 'COUNTERSIGN_IDENTITY_LINK_FILE'

const PORT_MAX = 65_535
const HOST_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([1-9]\d{0,4})$/
const HOST_NAME = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/
const NAME_CHARS_MAX = 253

/** Processes and commands that read the file have working directories of their own. */
const path = z
  .string()
  .max(4_096)
  .refine(isAbsolute, 'is the path of a PEM file, from the root of the file system on')

const files = { certificate: path, key: path, authority: path }

const hostPort = z
  .string()
  .max(NAME_CHARS_MAX + 8)
  .transform(hostPortIn)
  .refine(
    (value) => value !== null,
    'is a host and a port, such as 10.0.0.3:7443 or [fd00::3]:7443',
  )

const listenerFile = z.strictObject({
  listen: hostPort.refine(
    (value) => value === null || isIP(value.host) !== 0,
    'has an address of this machine, not a name',
  ),
  ...files,
})

const linkFile = z.strictObject({
  address: hostPort,
  server_name: z
    .string()
    .max(NAME_CHARS_MAX)
    .regex(HOST_NAME, 'is a host name')
    // What certificates say of addresses is held against `address`, and is never announced (RFC 6066, 3).
    .refine((name) => isIP(name) === 0, 'is a name: an address is checked where there is none')
    .optional(),
  ...files,
})

/** @throws as `readJsonFile` */
export function readLinkListenerFile(path: string): LinkListenerSettings {
  const { listen, ...named } = readJsonFile(path, listenerFile)
  return { listen: present(listen), files: named }
}

/** @throws as `readJsonFile` */
export function readIdentityLinkFile(path: string): IdentityLinkSettings {
  const { address, server_name: serverName = null, ...named } = readJsonFile(path, linkFile)
  return { address: present(address), serverName, files: named }
}

/** @throws as `readJsonFile` */
export function identityLinkAt(path: string): IdentityLink {
  const { address, serverName, files: named } = readIdentityLinkFile(path)
  return { ...address, serverName, credentials: () => readTlsFiles(named) }
}

/**
 * As they lie there now.
 * @throws Error that names the file which is of no use, and repeats nothing of it
 */
export function readTlsFiles({ certificate, key, authority }: TlsFiles): TlsPems {
  requireOwnersAlone(key)
  const credentials = {
    cert: readFileSync(certificate),
    key: readFileSync(key),
    ca: readFileSync(authority),
  }
  const own = parsed(`${certificate} is no certificate (PEM)`, () =>
    certificateIn(credentials.cert),
  )
  parsed(`${authority} is no certificate (PEM)`, () => certificateIn(credentials.ca))
  const secret = parsed(`${key} is no private key (PEM, without a passphrase)`, () =>
    createPrivateKey(credentials.key),
  )
  if (!own.checkPrivateKey(secret)) throw new Error(`${key} is not the key of ${certificate}`)
  return credentials
}

/** Milliseconds since the epoch: when the first certificate of a PEM file ends. */
export function certificateEndMs(pem: Buffer): number {
  return Date.parse(certificateIn(pem).validTo)
}

function certificateIn(pem: Buffer): X509Certificate {
  return new X509Certificate(pem)
}

/** OpenSSL's own words name no file. */
function parsed<Value>(otherwise: string, parse: () => Value): Value {
  try {
    return parse()
  } catch {
    throw new Error(otherwise)
  }
}

function hostPortIn(text: string): HostPort | null {
  const [, address, name, digits] = HOST_PORT.exec(text) ?? []
  const host = address ?? name
  const port = Number(digits)
  if (host === undefined || port > PORT_MAX) return null
  if (address !== undefined && isIP(address) !== 6) return null
  return { host, port }
}

/** The schema refuses what is none. */
function present(value: HostPort | null): HostPort {
  if (value === null) throw new Error('a host and a port are there')
  return value
}
