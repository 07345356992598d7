import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterNode, epochOf } from './node.js'

/** Tells which node leads. */
export interface LeaderWatch {
  /** The last leader that was seen; null before the first. */
  readonly leader: ClusterNode | null
  /** @throws Error when there is no leader in time */
  first(): Promise<ClusterNode>
  close(): Promise<void>
}

/** A failover takes some seconds; a poll takes a few milliseconds. */
const POLL_MS = 500
/** Services that start together include one that waits for the others' silence. */
const FIRST_MS_MAX = 120_000

/** @param changed called when another node leads, or the same one with a new epoch */
export function watchLeader(
  nodes: () => readonly ClusterNode[],
  changed: (leader: ClusterNode) => void,
): LeaderWatch {
  const closing = new AbortController()
  let seen: { readonly node: ClusterNode; readonly epoch: number } | null = null

  async function look(): Promise<void> {
    const looks = await Promise.all(
      nodes().map(async (node) => ({ node, epoch: await epochOf(node.url) })),
    )
    for (const { node, epoch } of looks) {
      // A former leader that does not know it yet has a lower epoch.
      if (epoch === null || epoch <= (seen?.epoch ?? 0)) continue
      const before = seen?.node
      seen = { node, epoch }
      if (node !== before) changed(node)
    }
  }

  const rest = () => delay(POLL_MS, undefined, { signal: closing.signal }).catch(() => undefined)

  const watching = (async () => {
    while (!closing.signal.aborted) {
      await look()
      await rest()
    }
  })()

  return {
    get leader() {
      return seen?.node ?? null
    },
    async first() {
      const deadlineMs = performance.now() + FIRST_MS_MAX
      while (seen === null) {
        if (closing.signal.aborted || performance.now() > deadlineMs) {
          throw new Error('no node became the leader: see the logs of each in logs/')
        }
        await rest()
      }
      return seen.node
    },
    async close() {
      closing.abort()
      await watching
    },
  }
}
