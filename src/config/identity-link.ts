import { isIP } from 'node:net'
import { z } from 'zod'
import { readJsonFile } from './json-file.js'
import {
  type HostPort,
  hostPort,
  NAME_CHARS_MAX,
  ownAddress,
  present,
  readTlsFiles,
  type TlsFiles,
  type TlsPems,
  tlsFiles,
} from './tls-files.js'

/**
 * The link between wallet services and an identity provider on another machine: TLS, where each
 * side has a certificate by one authority that both pin. Each side has its own file, which names a
 * private key.
 */

/** The identity provider's side. */
export interface LinkListenerSettings {
  readonly listen: HostPort
  readonly files: TlsFiles
}

/** The wallet service's side. */
interface IdentityLinkSettings {
  readonly address: HostPort
  /** Alternative addresses: nodes that may take over from it, and it from them. */
  readonly others: readonly HostPort[]
  /** The name in the identity provider's certificate; null for the host of its address. */
  readonly serverName: string | null
  readonly files: TlsFiles
}

/** The parameters of a connection. */
interface IdentityLink extends HostPort {
  readonly others: readonly HostPort[]
  readonly serverName: string | null
  /**
   * Reads the present files.
   * @throws as `readTlsFiles`
   */
  readonly credentials: () => TlsPems
}

export const LINK_LISTENER_VARIABLE = 'IDENTITY_LINK_FILE'
export const IDENTITY_LINK_VARIABLE = 'COUNTERSIGN_IDENTITY_LINK_FILE'

const HOST_NAME = /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/

const listenerFile = z.strictObject({
  listen: ownAddress,
  ...tlsFiles,
})

const OTHERS_MAX = 7

const linkFile = z.strictObject({
  address: hostPort,
  others: z.array(hostPort).max(OTHERS_MAX).default([]),
  server_name: z
    .string()
    .max(NAME_CHARS_MAX)
    .regex(HOST_NAME, 'is a host name')
    // Certificates for addresses are checked against `address`, and TLS never announces an address
    // (RFC 6066, 3).
    .refine(
      (name) => isIP(name) === 0,
      'must be a name, not an address: omit it to check the address',
    )
    .optional(),
  ...tlsFiles,
})

/** @throws as `readJsonFile` */
export function readLinkListenerFile(path: string): LinkListenerSettings {
  const { listen, ...named } = readJsonFile(path, listenerFile)
  return { listen: present(listen), files: named }
}

/** @throws as `readJsonFile` */
export function readIdentityLinkFile(path: string): IdentityLinkSettings {
  const read = readJsonFile(path, linkFile)
  const { address, others, server_name: serverName = null, ...files } = read
  return { address: present(address), others: others.map(present), serverName, files }
}

/** @throws as `readJsonFile` */
export function identityLinkAt(path: string): IdentityLink {
  const { address, others, serverName, files } = readIdentityLinkFile(path)
  return { ...address, others, serverName, credentials: () => readTlsFiles(files) }
}
