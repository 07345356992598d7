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
 * How the nodes of a cluster reach each other: by TLS, where each has a certificate of one authority that
 * all of them pin. One that waits passes requests on to the owner of the journal by it.
 */
export interface NodeLinkSettings {
  /** Of this machine. */
  readonly listen: HostPort
  /** What the other nodes reach it by, which its certificate bears. */
  readonly address: HostPort
  readonly files: TlsFiles
  /** As the files are by then. @throws as `readTlsFiles` */
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
 * What a node is called in the journal once it owns it, for people and for other nodes.
 * @param here its machine's name and the port that it serves at
 * @param link where others reach it; null: they do not
 */
export function nodeName(here: string, link: HostPort | null): string {
  if (link === null) return here
  const { host, port } = link
  return `${here} ${URL_START}${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** @returns null for an owner without a link */
export function nodeAt(name: string): HostPort | null {
  const url = name.slice(name.lastIndexOf(' ') + 1)
  if (!url.startsWith(URL_START)) return null
  const { success, data } = hostPort.safeParse(url.slice(URL_START.length))
  return success ? data : null
}
