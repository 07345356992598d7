import { z } from 'zod'
import { readJsonFile } from './json-file.js'
import {
  type HostPort,
  hostPort,
  ownAddress,
  present,
  readTlsFiles,
  type TlsFiles,
  type TlsPems,
  tlsFiles,
} from './tls-files.js'

/**
 * The link between a cluster's nodes: TLS, where each has a certificate by one authority that all
 * pin. A standby forwards requests over it to the leader.
 */
interface NodeLinkSettings {
  /** An address of this machine. */
  readonly listen: HostPort
  /** The address that other nodes use, which must be in its certificate. */
  readonly address: HostPort
  readonly files: TlsFiles
  /**
   * Reads the present files.
   * @throws as `readTlsFiles`
   */
  readonly credentials: () => TlsPems
}

export const NODE_LINK_VARIABLE = 'COUNTERSIGN_NODE_LINK_FILE'

const linkFile = z.strictObject({ listen: ownAddress, address: hostPort.optional(), ...tlsFiles })

/** @throws as `readJsonFile`, and as `readTlsFiles` */
export function readNodeLinkFile(path: string): NodeLinkSettings {
  const { listen, address = listen, ...files } = readJsonFile(path, linkFile)
  readTlsFiles(files)
  return {
    ...{ listen: present(listen), address: present(address), files },
    credentials: () => readTlsFiles(files),
  }
}

const URL_START = 'https://'

/**
 * Returns a leader's name in the journal, for people and other nodes.
 * @param here the machine's name and the port that it serves on
 * @param link the address for other nodes; null without a link
 */
export function nodeName(here: string, link: HostPort | null): string {
  if (link === null) return here
  const { host, port } = link
  return `${here} ${URL_START}${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** @returns null for a leader without a link */
export function nodeAt(name: string): HostPort | null {
  const url = name.slice(name.lastIndexOf(' ') + 1)
  if (!url.startsWith(URL_START)) return null
  const { success, data } = hostPort.safeParse(url.slice(URL_START.length))
  return success ? data : null
}
