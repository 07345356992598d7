import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import {
  IDENTITY_LINK_VARIABLE,
  identityLinkAt,
  LINK_LISTENER_VARIABLE,
  readLinkListenerFile,
} from '../../config/identity-link.js'
import { NODE_LINK_VARIABLE, readNodeLinkFile } from '../../config/node-link.js'
import { certificateEndMs, readTlsFiles } from '../../config/tls-files.js'
import {
  openSocket,
  placeAt,
  placesOf,
  reasonOf,
  type TlsCredentials,
  type TlsEndpoint,
} from '../../quorum-protocol/endpoint.js'
import { readFrames, writeFrame } from '../../quorum-protocol/frames.js'
import { whileTheyHold } from './certificate-ends.js'
import type { Environments } from './environments.js'
import { check, type Finding } from './finding.js'

/**
 * Checks how a wallet service reaches the identity provider on another machine, from both ends, and
 * the other nodes of its journal.
 */

const SERVICE_END = 'link: identity provider'
const IDENTITY_END = 'link: listener'
const NODES = 'link: nodes'
const NODES_SECTION = 'CLUSTER.md, "Link the nodes"'
const SECTION = 'CLUSTER.md, "Link to the identity provider"'
const TIMEOUT_MS = 10_000

/** True when this machine's service uses an identity provider on another machine. */
export function isIdentityElsewhere(home: string, { service }: Environments): boolean {
  return isSet(service[IDENTITY_LINK_VARIABLE]) && !existsSync(join(home, 'identity-provider'))
}

export async function linkChecks({
  service,
  identityProvider,
}: Environments): Promise<readonly Finding[]> {
  const { [IDENTITY_LINK_VARIABLE]: link } = service
  const { [NODE_LINK_VARIABLE]: nodes } = service
  const { [LINK_LISTENER_VARIABLE]: listener } = identityProvider
  const checks = [
    ...(isSet(link)
      ? [check(SERVICE_END, `${IDENTITY_LINK_VARIABLE}; ${SECTION}`, () => fromService(link))]
      : []),
    ...(isSet(listener)
      ? [check(IDENTITY_END, `${LINK_LISTENER_VARIABLE}; ${SECTION}`, () => atIdentity(listener))]
      : []),
    ...(isSet(nodes)
      ? [check(NODES, `${NODE_LINK_VARIABLE}; ${NODES_SECTION}`, async () => ofNodes(nodes))]
      : []),
  ]
  return (await Promise.all(checks)).flat()
}

/**
 * Connects as the service does and waits for an answer: TLS alone does not show that a certificate
 * is refused.
 */
async function fromService(file: string): Promise<Finding> {
  const endpoint = identityLinkAt(file)
  const own = ownEnds(endpoint.credentials())
  const ended = whileTheyHold(SERVICE_END, '', own)
  if (ended.status === 'fail') return ended
  const { at, endMs } = await anyAnswer(endpoint)
  return whileTheyHold(SERVICE_END, `answers at ${at}`, [...own, ["identity provider's", endMs]])
}

/**
 * Of several addresses, one serves at a time.
 * @throws the error of the last one
 */
async function anyAnswer(endpoint: TlsEndpoint) {
  for (let turn = 0; ; turn++) {
    const place = placeAt(endpoint, turn) as TlsEndpoint
    try {
      return { at: `${place.host}:${place.port}`, endMs: await answered(place) }
    } catch (error) {
      if (turn + 1 >= placesOf(endpoint)) throw error
    }
  }
}

/** @returns when the other side's certificate ends */
function answered(endpoint: TlsEndpoint): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: Socket = openSocket(endpoint, () => writeFrame(socket, [0, 'ping', []]))
    socket.once('error', (error) => reject(new Error(reasonOf(error))))
    socket.once('close', () => reject(new Error("refuses this side's certificate")))
    readFrames(
      socket,
      () => {
        if (socket instanceof TLSSocket) {
          resolve(Date.parse(socket.getPeerCertificate().valid_to))
        }
        socket.destroy()
      },
      reject,
    )
  })
}

async function atIdentity(file: string): Promise<Finding> {
  const { listen, files } = readLinkListenerFile(file)
  const ends = ownEnds(readTlsFiles(files))
  await opened(listen.host, listen.port)
  return whileTheyHold(IDENTITY_END, `open at ${listen.host}:${listen.port}`, ends)
}

/** Only the leader of the journal listens, so this contacts no node. */
function ofNodes(file: string): Finding {
  const { address, credentials } = readNodeLinkFile(file)
  return whileTheyHold(NODES, `known as ${address.host}:${address.port}`, ownEnds(credentials()))
}

function opened(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer')))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

function ownEnds({ cert, ca }: TlsCredentials) {
  return [
    ['certificate', certificateEndMs(cert)],
    ['authority', certificateEndMs(ca)],
  ] as const
}

function isSet(path: string | undefined): path is string {
  return path !== undefined && path !== ''
}
