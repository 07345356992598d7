import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterNode, epochOf } from './node.js'

/** Which node owns the journal. */
export interface OwnerWatch {
  /** The last one that was seen to; null before any was. */
  readonly owner: ClusterNode | null
  /** @throws Error when none does within the time */
  first(): Promise<ClusterNode>
  close(): Promise<void>
}

/** A takeover takes some seconds; a look takes a few milliseconds. */
const LOOK_EVERY_MS = 500
/** Services that come up together, one of which waits for the others' silence. */
const FIRST_MS_MAX = 120_000

/** @param changed called when another node than before owns it, or the same one after a taking anew */
export function watchOwner(
  nodes: () => readonly ClusterNode[],
  changed: (owner: ClusterNode) => void,
): OwnerWatch {
  const closing = new AbortController()
  let seen: { readonly node: ClusterNode; readonly epoch: number } | null = null

  async function look(): Promise<void> {
    const looks = await Promise.all(
      nodes().map(async (node) => ({ node, epoch: await epochOf(node.url) })),
    )
    for (const { node, epoch } of looks) {
      // One that was overtaken and does not know it yet has a lower one.
      if (epoch === null || epoch <= (seen?.epoch ?? 0)) continue
      const before = seen?.node
      seen = { node, epoch }
      if (node !== before) changed(node)
    }
  }

  const rest = () =>
    delay(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined)

  const watching = (async () => {
    while (!closing.signal.aborted) {
      await look()
      await rest()
    }
  })()

  return {
    get owner() {
      return seen?.node ?? null
    },
    async first() {
      const deadlineMs = performance.now() + FIRST_MS_MAX
      while (seen === null) {
        if (closing.signal.aborted || performance.now() > deadlineMs) {
          throw new Error('no node took the journal over: logs/ has what each of them said')
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
