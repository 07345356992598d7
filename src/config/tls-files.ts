import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { requireOwnersAlone } from './json-file.js'

/** The files of a TLS link: each side has a certificate by one authority that both pin. */

/** Paths of PEM files. */
export interface TlsFiles {
  /** This side's certificate, with those between it and the authority. */
  readonly certificate: string
  /** The private key of this side's certificate; mode 0600. */
  readonly key: string
  /** The authorities of the other side's certificate; several while one replaces another. */
  readonly authority: string
}

/** The contents of the files. */
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

/**
 * Absolute, because processes and commands that read the file have different working directories.
 */
const path = z
  .string()
  .max(4_096)
  .refine(isAbsolute, 'is the path of a PEM file, from the root of the file system on')

/** The fields of a JSON file. */
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
 * Reads the present files.
 * @throws Error that names the unusable file, and repeats nothing of it
 */
export function readTlsFiles({ certificate, key, authority }: TlsFiles): TlsPems {
  requireOwnersAlone(key)
  const credentials = {
    cert: readFileSync(certificate),
    key: readFileSync(key),
    ca: readFileSync(authority),
  }
  const own = parsed(`${certificate} is not a certificate (PEM)`, () =>
    certificateIn(credentials.cert),
  )
  parsed(`${authority} is not a certificate (PEM)`, () => certificateIn(credentials.ca))
  const secret = parsed(`${key} is not a private key (PEM, without a passphrase)`, () =>
    createPrivateKey(credentials.key),
  )
  if (!own.checkPrivateKey(secret)) throw new Error(`${key} is not the key of ${certificate}`)
  return credentials
}

/** Returns when the first certificate of a PEM file ends, in milliseconds since the epoch. */
export function certificateEndMs(pem: Buffer): number {
  return Date.parse(certificateIn(pem).validTo)
}

function certificateIn(pem: Buffer): X509Certificate {
  return new X509Certificate(pem)
}

/** OpenSSL's own message does not name the file. */
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

/** The schema has already refused a missing address. */
export function present(value: HostPort | null): HostPort {
  if (value === null) throw new Error('a host and a port are there')
  return value
}

/** An address of this machine to listen on. */
export const ownAddress = hostPort.refine(
  (value) => value === null || isIP(value.host) !== 0,
  'has an address of this machine, not a name',
)
