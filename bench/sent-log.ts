import { httpRequest, openConnection, type RequestBytes } from './load/connection.js'
import { createSends, type WriteTarget } from './write-path.js'

/** Remembers what a service reported as accepted, to ask for all of it afterwards. */
export interface SentLog {
  readonly next: () => RequestBytes
  readonly onDone: (answer: { readonly body: string }) => void
  readonly count: number
  /**
   * Polls every transaction until it is confirmed, each with a key of its own wallet.
   * @returns ids that were not confirmed in time, and so were lost
   */
  lost(waitMs: number): Promise<readonly string[]>
}

const ASKING = 16
const PAUSE_MS = 500
const TX_ID = /"tx_id": ?"([^"]+)"/
const FROM = /"from": ?"([^"]+)"/

/** @param keyOf secret that may read a wallet's transactions, by its address in lower case */
export function createSentLog(target: WriteTarget, keyOf: ReadonlyMap<string, string>): SentLog {
  const next = createSends(target)
  let open: { readonly txId: string; readonly secret: string }[] = []
  let count = 0
  return {
    next: () => next(0),
    onDone({ body }) {
      const txId = TX_ID.exec(body)?.[1]
      const secret = keyOf.get(FROM.exec(body)?.[1]?.toLowerCase() ?? '')
      if (txId === undefined || secret === undefined)
        throw new Error(`not a send's answer: ${body}`)
      // A copy, because a pattern's match is a slice that keeps the whole answer alive.
      open.push({ txId: Buffer.from(txId).toString(), secret })
      count++
    },
    get count() {
      return count
    },
    async lost(waitMs) {
      const deadline = performance.now() + waitMs
      for (;;) {
        open = await stillOpen(target.port, open)
        if (open.length === 0 || performance.now() > deadline) return open.map(({ txId }) => txId)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    },
  }
}

async function stillOpen<T extends { readonly txId: string; readonly secret: string }>(
  port: number,
  asked: readonly T[],
): Promise<T[]> {
  const open: T[] = []
  let at = 0
  await Promise.all(
    Array.from({ length: ASKING }, async () => {
      const connection = await openConnection('127.0.0.1', port)
      for (;;) {
        const one = asked[at++]
        if (one === undefined) break
        const request = httpRequest('GET', `/api/tx/${one.txId}`, { 'x-api-key': one.secret })
        const { body } = await connection.request(request)
        if (!/"status": ?"confirmed"/.test(body)) open.push(one)
      }
      connection.close()
    }),
  )
  return open
}
