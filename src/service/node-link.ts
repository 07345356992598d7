import type { Logger } from 'pino'
import { nodeAt, readNodeLinkFile } from '../config/node-link.js'
import type { HostPort } from '../config/tls-files.js'
import type { Serve } from '../http/app.js'
import {
  createForwarder,
  FORWARDED_MAX,
  type Forwarder,
  type ForwardOptions,
} from '../http/forward-to-owner.js'
import { type AcceptingApp, createAcceptingApp } from '../http/node-http/node-app.js'
import type { HttpServer } from '../http/server.js'
import { refuseAll } from '../http/standby-answers.js'
import { LinkAgent } from '../link/link-agent.js'
import { listenOnLink } from '../link/link-listener.js'
import type { FollowProgress } from '../store/follow-owner.js'
import { createStoredNews, type StoredNews } from './stored-news.js'
import { createWaitingNodes } from './waiting-nodes.js'

/** A node's way to the others, and theirs to it. */
export interface NodeLink extends Pick<StoredNews, 'stored' | 'storedAfter'> {
  /** Where the others find this node once it owns the journal. */
  readonly address: HostPort
  /** Has what comes answered by the owner of the journal, until this node serves. */
  forward(options: Omit<ForwardOptions, 'owner' | 'agent' | 'log'>): Serve
  /** Told of each look at the owner. */
  followed(progress: Pick<FollowProgress, 'epoch' | 'owner' | 'restoring'>): void
  /** Told by this node, which waits and could take the journal over, that the owner asks who could. */
  saysThatItWaits(asked: string): void
  /** Of the owner: whether a node that waits says so in time to what it asked in the journal. */
  anyWaits(asked: string, timeMs: number): Promise<boolean>
  /** Of a node that still waits: resolves once what it had passed on was answered, or in time. */
  drain(timeMs: number): Promise<void>
  /** Nobody else is asked any more: this node owns the journal. */
  owns(): void
  /** Answers what other nodes pass on, which hear until then that another one is to be asked. */
  serve(server: HttpServer): void
  /** Lets no connection in any more; those there are go on. */
  stopListening(): void
  close(): Promise<void>
}

/** Whom the link lets in: each node has a connection for every request that it waits for. */
const NODES = {
  whom: 'other nodes of the cluster',
  // With some that have ended and are not gone yet, and the streams, which the owner bounds.
  ofOneCertificateMax: 3 * FORWARDED_MAX,
  placesMax: 12 * FORWARDED_MAX,
  // As many as requests may come at once of some nodes that have no connection yet.
  handshakesMax: 4 * FORWARDED_MAX,
  /** The HTTP server ends what is silent for too long. */
  silentMsMax: null,
} as const

/**
 * Listens at once, so that an address which cannot be had is found before the journal is taken.
 * @throws as `readNodeLinkFile`; Error for an address that is not this machine's or is taken
 */
export async function openNodeLink(file: string, log: Logger): Promise<NodeLink> {
  const settings = readNodeLinkFile(file)
  const { address } = settings
  const agent = new LinkAgent(settings.credentials)
  let owner: Pick<FollowProgress, 'epoch' | 'owner'> | null = null
  let forwarder: Forwarder | null = null
  let answering: AcceptingApp = refusing()
  const waiting = createWaitingNodes({ agent, owner: place })
  const news = createStoredNews({ agent, owner: place })
  const listener = await listenOnLink(
    { ...settings, ...NODES },
    (socket) => answering.accept(socket),
    log,
  )

  function place() {
    if (owner?.owner == null) return null
    const at = nodeAt(owner.owner)
    const isSelf = at?.host === address.host && at.port === address.port
    return at === null || isSelf ? null : { ...at, epoch: owner.epoch }
  }

  function ownedBy(next: typeof owner): void {
    const isSame = next?.epoch === owner?.epoch
    owner = next
    if (!isSame) forwarder?.ownerChanged()
  }

  return {
    ...{ address, stored: news.stored, storedAfter: news.storedAfter },
    forward(options) {
      forwarder = createForwarder({ ...options, owner: place, agent, log })
      return forwarder.serve
    },
    followed(progress) {
      // While a store is restored nobody looks at the owner, who is who it was.
      if (progress.restoring === null) ownedBy(progress)
    },
    saysThatItWaits: waiting.say,
    anyWaits: waiting.any,
    drain: async (timeMs) => forwarder?.drain(timeMs),
    owns() {
      ownedBy(null)
      agent.destroy()
    },
    serve(server) {
      const app = createAcceptingApp()
      // Each node says whom a request is of; nobody else is let in.
      server.answerOn(app.app, (peer, forwardedFor) => forwardedFor || peer)
      waiting.answerOn(app.app)
      news.answerOn(app.app)
      answering = app
    },
    stopListening() {
      news.close()
      listener.stopListening()
    },
    async close() {
      agent.destroy()
      await listener.close()
    },
  }
}

/** Each answer closes its connection: the next one may find this node serving. */
function refusing(): AcceptingApp {
  const accepting = createAcceptingApp()
  accepting.app.any('/*', refuseAll)
  return accepting
}
