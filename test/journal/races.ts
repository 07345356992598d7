import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import type { Journal } from '../../src/journal/journal.js'

export const drawClaim = () => randomBytes(16).toString('hex')

const TAKERS = 3
const ENTRIES_EACH = 4
/** Takers that come one after another are no race: each waits for less than an append takes. */
const STAGGER_MS = 2

interface Acknowledged {
  readonly seq: number
  readonly epoch: number
  readonly body: string
}

/**
 * Owners that take one partition at nearly the same time and each append until they are fenced;
 * every other one asks for each append twice at once, as one does whose answer did not come.
 * Afterwards the journal holds what was acknowledged, each once, under the epoch that it was
 * acknowledged to, and epochs that never sink.
 */
export async function raceTakers(
  clients: readonly Journal[],
  partition: number,
  race: number,
): Promise<void> {
  const acknowledged: Acknowledged[] = []
  const epochs: number[] = []

  async function own(taker: number): Promise<void> {
    const journal = clients[taker % clients.length] as Journal
    await new Promise((resolve) => setTimeout(resolve, Math.random() * STAGGER_MS))
    const claim = drawClaim()
    const [{ epoch, seq }] = await Promise.all([
      journal.acquire(partition, `taker-${taker}`, claim),
      journal.acquire(partition, `taker-${taker}`, claim),
    ])
    epochs.push(epoch)
    for (let next = seq + 1; next <= seq + ENTRIES_EACH; next++) {
      const body = `race ${race}, taker ${taker}, entry ${next}`
      const at = { partition, epoch, seq: next }
      const asked = taker % 2 === 0 ? [0, 1] : [0]
      const answers = await Promise.all(asked.map(() => journal.append(at, Buffer.from(body))))
      if (answers.some(({ kind }) => kind === 'stored')) {
        acknowledged.push({ seq: next, epoch, body })
      }
      if (answers.some(({ kind }) => kind === 'fenced')) return
    }
  }

  await Promise.all(Array.from({ length: TAKERS }, (_, taker) => own(taker)))
  const entries = (await (clients[0] as Journal).read(partition, 0, 1_000_000)).map(
    ({ seq, epoch, body }) => ({ seq, epoch, body: Buffer.from(body).toString() }),
  )
  const seen = `race ${race}: ${JSON.stringify({ acknowledged, entries })}`
  expect(new Set(epochs).size, seen).toBe(TAKERS)
  expect(
    entries.map(({ seq }) => seq),
    seen,
  ).toEqual(entries.map((_, index) => index + 1))
  for (const [index, { epoch }] of entries.entries()) {
    expect(epoch, seen).toBeGreaterThanOrEqual(entries[index - 1]?.epoch ?? 0)
  }
  expect(new Set(acknowledged.map(({ seq }) => seq)).size, seen).toBe(acknowledged.length)
  for (const entry of acknowledged) expect(entries, seen).toContainEqual(entry)
  // The last owner was fenced by nobody.
  const last = Math.max(...epochs)
  expect(acknowledged.filter(({ epoch }) => epoch === last).length, seen).toBe(ENTRIES_EACH)
}
