import type { Logger } from 'pino'
import { nodeAt, readNodeLinkFile } from '../config/node-link.js'
import type { HostPort } from '../config/tls-files.js'
import type { Serve } from '../http/app.js'
import {
  createForwarder,
  FORWARDED_MAX,
  type Forwarder,
  type ForwardOptions,
} from '../http/forward-to-leader.js'
import { type AcceptingApp, createAcceptingApp } from '../http/node-http/node-app.js'
import type { HttpServer } from '../http/server.js'
import { refuseAll } from '../http/standby-answers.js'
import { LinkAgent } from '../link/link-agent.js'
import { listenOnLink } from '../link/link-listener.js'
import type { FollowProgress } from '../store/follow-leader.js'
import { createStoredNews, type StoredNews } from './stored-news.js'
import { createWaitingNodes } from './waiting-nodes.js'

/** Connects this node with the other nodes of the cluster, in both directions. */
export interface NodeLink extends Pick<StoredNews, 'stored' | 'storedAfter' | 'isFollowed'> {
  /** The address at which other nodes reach this node once it leads the journal. */
  readonly address: HostPort
  /** Forwards requests to the leader until this node serves them itself. */
  forward(options: Omit<ForwardOptions, 'leader' | 'agent' | 'log'>): Serve
  /** Called after each poll of the leader. */
  followed(progress: Pick<FollowProgress, 'epoch' | 'leader' | 'restoring'>): void
  /** Tells the leader, which asked in the journal, that this standby could take over. */
  saysThatItWaits(asked: string): void
  /** Called by the leader. Resolves to whether a standby answered its question in time. */
  anyWaits(asked: string, timeMs: number): Promise<boolean>
  /**
   * Called by a standby. Resolves once all forwarded requests are answered, or when the time is up.
   */
  drain(timeMs: number): Promise<void>
  /** This node leads the journal: it forwards nothing from now on. */
  owns(): void
  /**
   * Serves requests that other nodes forward. Until this call they are told to use another node.
   */
  serve(server: HttpServer): void
  /** Accepts no new connections; open ones continue. */
  stopListening(): void
  close(): Promise<void>
}

/**
 * Bounds for the peers of the link: a node opens one connection for each request that it waits for.
 */
const NODES = {
  whom: 'other nodes of the cluster',
  // This leaves room for connections that ended but are not closed yet, and for streams, which the
  // leader bounds.
  ofOneCertificateMax: 3 * FORWARDED_MAX,
  placesMax: 12 * FORWARDED_MAX,
  // Nodes that have no connection yet may send this many requests at once.
  handshakesMax: 4 * FORWARDED_MAX,
  /** The HTTP server ends connections that are silent for too long. */
  silentMsMax: null,
} as const

/**
 * Listens at once, so that an address that is not available is found before the node acquires the
 * journal.
 * @throws as `readNodeLinkFile`; Error if the address is not this machine's or is in use
 */
export async function openNodeLink(file: string, log: Logger): Promise<NodeLink> {
  const settings = readNodeLinkFile(file)
  const { address } = settings
  const agent = new LinkAgent(settings.credentials)
  let leader: Pick<FollowProgress, 'epoch' | 'leader'> | null = null
  let forwarder: Forwarder | null = null
  let answering: AcceptingApp = refusing()
  const waiting = createWaitingNodes({ agent, leader: place })
  const news = createStoredNews({ agent, leader: place })
  const listener = await listenOnLink(
    { ...settings, ...NODES },
    (socket) => answering.accept(socket),
    log,
  )

  function place() {
    if (leader?.leader == null) return null
    const at = nodeAt(leader.leader)
    const isSelf = at?.host === address.host && at.port === address.port
    return at === null || isSelf ? null : { ...at, epoch: leader.epoch }
  }

  function ownedBy(next: typeof leader): void {
    const isSame = next?.epoch === leader?.epoch
    leader = next
    if (!isSame) forwarder?.leaderChanged()
  }

  return {
    ...{ address, stored: news.stored, storedAfter: news.storedAfter },
    isFollowed: news.isFollowed,
    forward(options) {
      forwarder = createForwarder({ ...options, leader: place, agent, log })
      return forwarder.serve
    },
    followed(progress) {
      // The leader is not polled while the store is restored, so it stays as it was.
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
      // Each node states whose request it forwards; the link accepts nothing else.
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

/** Each refusal closes its connection, because this node may serve the next one. */
function refusing(): AcceptingApp {
  const accepting = createAcceptingApp()
  accepting.app.any('/*', refuseAll)
  return accepting
}
