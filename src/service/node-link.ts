import type { Logger } from 'pino'
import { nodeAt, nodeUrl, readNodeLinkFile } from '../config/node-link.js'
import type { Serve } from '../http/app.js'
import { createForwarder, FORWARDED_MAX, type ForwardOptions } from '../http/forward-to-owner.js'
import { createAcceptingApp } from '../http/node-http/node-app.js'
import type { HttpServer } from '../http/server.js'
import { LinkAgent } from '../link/link-agent.js'
import { listenOnLink } from '../link/link-listener.js'
import type { FollowProgress } from '../store/follow-owner.js'

/** A node's way to the others, and theirs to it. */
export interface NodeLink {
  /** Where the others find this node once it owns the journal. */
  readonly url: string
  /** Has what comes answered by the owner of the journal, until this node serves. */
  forward(options: Omit<ForwardOptions, 'owner' | 'agent' | 'log'>): Serve
  /** Told of each look at the owner. */
  followed(progress: Pick<FollowProgress, 'epoch' | 'owner'>): void
  /** Nobody else is asked any more: this node owns the journal. */
  owns(): void
  /**
   * Answers what other nodes pass on.
   * @throws Error for an address that is not this machine's or is taken
   */
  serve(server: HttpServer): Promise<void>
  /** Lets no connection in any more; those there are go on. */
  stopListening(): void
  close(): Promise<void>
}

/** Whom the link lets in: each node has a connection for every request that it waits for. */
const NODES = {
  whom: 'other nodes of the cluster',
  ofOneCertificateMax: FORWARDED_MAX + 64,
  placesMax: 8 * FORWARDED_MAX,
  /** The HTTP server ends what is silent for too long. */
  silentMsMax: null,
} as const

/** @throws as `readNodeLinkFile` */
export function openNodeLink(file: string, log: Logger): NodeLink {
  const settings = readNodeLinkFile(file)
  const url = nodeUrl(settings.address)
  const agent = new LinkAgent(settings.credentials, FORWARDED_MAX)
  let owner: Pick<FollowProgress, 'epoch' | 'owner'> | null = null
  let ownerChanged = (): void => undefined
  let listener: Awaited<ReturnType<typeof listenOnLink>> | null = null

  function place() {
    if (owner?.owner == null || owner.owner === url) return null
    const at = nodeAt(owner.owner)
    return at === null ? null : { ...at, epoch: owner.epoch }
  }

  function ownedBy(next: typeof owner): void {
    const isSame = next?.epoch === owner?.epoch
    owner = next
    if (!isSame) ownerChanged()
  }

  return {
    url,
    forward(options) {
      const forwarder = createForwarder({ ...options, owner: place, agent, log })
      ownerChanged = forwarder.ownerChanged
      return forwarder.serve
    },
    followed: ownedBy,
    owns() {
      ownedBy(null)
      agent.destroy()
    },
    async serve(server) {
      const { app, accept } = createAcceptingApp()
      // Each node says whom a request is of; nobody else is let in.
      server.answerOn(app, (peer, forwardedFor) => forwardedFor || peer)
      listener = await listenOnLink({ ...settings, ...NODES }, accept, log)
    },
    stopListening: () => listener?.stopListening(),
    async close() {
      agent.destroy()
      await listener?.close()
    },
  }
}
