import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { requireOwnersAlone } from './json-file.js'

/** What a link by TLS is made with: each side has a certificate of one authority that both pin. */

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

const PORT_MAX = 65_535
const HOST_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([1-9]\d{0,4})$/
export const NAME_CHARS_MAX = 253

/** Processes and commands that read the file have working directories of their own. */
const path = z
  .string()
  .max(4_096)
  .refine(isAbsolute, 'is the path of a PEM file, from the root of the file system on')

/** Of a JSON file. */
export const tlsFiles = { certificate: path, key: path, authority: path }

export const hostPort = z
  .string()
  .max(NAME_CHARS_MAX + 8)
  .transform(hostPortIn)
  .refine(
    (value) => value !== null,
    'is a host and a port, such as 10.0.0.3:7443 or [fd00::3]:7443',
  )

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
export function present(value: HostPort | null): HostPort {
  if (value === null) throw new Error('a host and a port are there')
  return value
}

/** Of this machine, to listen at. */
export const ownAddress = hostPort.refine(
  (value) => value === null || isIP(value.host) !== 0,
  'has an address of this machine, not a name',
)
